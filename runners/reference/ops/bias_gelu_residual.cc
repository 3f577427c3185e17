#include <array>
#include <cmath>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

double gelu_erf(double a) {
  return 0.5 * a * std::erfc(-a / std::sqrt(2.0));
}

/// Hendrycks and Gimpel 2016, the approximation with tanh.
double gelu_tanh(double a) {
  const double two_over_pi = 2 / std::acos(-1.0);
  return 0.5 * a * (1 + std::tanh(std::sqrt(two_over_pi) * (a + 0.044715 * a * a * a)));
}

class BiasGeluResidual final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"x", Operand::Kind::tensor, true, "any shape"},
        Operand{"bias", Operand::Kind::tensor, true, "[C]; element i of x gets bias[i % C]"},
        Operand{"residual", Operand::Kind::tensor, true, "the shape of x"},
        Operand{"out", Operand::Kind::output, true, "the shape of x"},
        Operand{"form", Operand::Kind::word, false, "erf|tanh"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    call.require(call.shape("bias").size() == 1 && call.shape("bias")[0] > 0, "bias",
                 "one dimension, not empty");
    call.require_shape("residual", call.shape("x"));
    call.require_shape("out", call.shape("x"));
  }
  void run(OpCall& call) const override {
    const Tensor& x = call.in("x");
    const Tensor& residual = call.in("residual");
    Tensor& out = call.out("out");
    const std::vector<double> bias = load_all(call.in("bias"));
    const auto gelu = call.word("form", "erf") == "tanh" ? gelu_tanh : gelu_erf;
    in_parallel(x.elements(), 4, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> values(static_cast<std::size_t>(end - begin)), added(values.size());
      x.read(begin, values);
      residual.read(begin, added);
      auto column = static_cast<std::size_t>(begin) % bias.size();
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = gelu(values[i] + bias[column]) + added[i];
        if (++column == bias.size()) column = 0;
      }
      out.write(begin, values);
    });
  }
};

}  // namespace

void register_host_op_bias_gelu_residual(HostOpRegistry& registry) {
  registry.add("bias_gelu_residual", "gelu(x + bias) + residual",
               [] { return std::make_unique<BiasGeluResidual>(); });
}

}  // namespace warpath
