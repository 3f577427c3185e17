#include <algorithm>
#include <array>
#include <cmath>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

struct Function {
  std::string_view name;
  double (*one)(double);          // null for two arguments
  double (*two)(double, double);  // null for one
};

constexpr std::array kFunctions{
    Function{"identity", [](double x) { return x; }, nullptr},
    Function{"abs", [](double x) { return std::abs(x); }, nullptr},
    Function{"neg", [](double x) { return -x; }, nullptr},
    Function{"square", [](double x) { return x * x; }, nullptr},
    Function{"sqrt", [](double x) { return std::sqrt(x); }, nullptr},
    Function{"exp", [](double x) { return std::exp(x); }, nullptr},
    Function{"log", [](double x) { return std::log(x); }, nullptr},
    Function{"tanh", [](double x) { return std::tanh(x); }, nullptr},
    Function{"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, nullptr},
    Function{"silu", [](double x) { return x / (1 + std::exp(-x)); }, nullptr},
    Function{"relu", [](double x) { return x > 0 ? x : 0 * x; }, nullptr},
    Function{"gelu_erf", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); },
             nullptr},
    Function{"gelu_tanh",
             [](double x) {
               return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
             },
             nullptr},
    Function{"add", nullptr, [](double x, double y) { return x + y; }},
    Function{"sub", nullptr, [](double x, double y) { return x - y; }},
    Function{"mul", nullptr, [](double x, double y) { return x * y; }},
    Function{"div", nullptr, [](double x, double y) { return x / y; }},
    Function{"min", nullptr, [](double x, double y) { return std::fmin(x, y); }},
    Function{"max", nullptr, [](double x, double y) { return std::fmax(x, y); }},
};

const Function& function_of(const OpCall& call) {
  const std::string name = call.word("function", "");
  const auto* const it = std::find_if(kFunctions.begin(), kFunctions.end(),
                                      [&](const Function& f) { return f.name == name; });
  WARPATH_CHECK(it != kFunctions.end());
  return *it;
}

class Elementwise final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"x", Operand::Kind::tensor, true, "any shape"},
        Operand{"y", Operand::Kind::tensor, false,
                "second argument: the shape of x, or [C], repeated; two-argument functions"},
        Operand{"out", Operand::Kind::output, true, "the shape of x"},
        Operand{
            "function", Operand::Kind::word, true,
            "identity|abs|neg|square|sqrt|exp|log|tanh|sigmoid|silu|relu|gelu_erf|gelu_tanh|add|"
            "sub|mul|div|min|max"},
        Operand{"scale", Operand::Kind::number, false, "factor of the result, default 1"},
        Operand{"offset", Operand::Kind::number, false, "added to the scaled result, default 0"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    const OpCall::Shape& x = call.shape("x");
    call.require_shape("out", x);
    const Function& function = function_of(call);
    if ((function.two != nullptr) != call.has("y")) {
      throw call.problem("y", "",
                         function.two != nullptr
                             ? "a second argument for " + std::string(function.name)
                             : "no second argument for " + std::string(function.name));
    }
    if (!call.has("y")) return;
    const OpCall::Shape repeated{rows_of(x).columns};
    call.require(call.shape("y") == x || call.shape("y") == repeated, "y",
                 "shape " + shape_text(x) + " or " + shape_text(repeated));
  }
  void run(OpCall& call) const override {
    const Function& function = function_of(call);
    const double scale = call.number("scale", 1), offset = call.number("offset", 0);
    const Tensor& x = call.in("x");
    const Tensor* y = call.has("y") ? &call.in("y") : nullptr;
    const std::int64_t period = y == nullptr ? 1 : y->elements();
    Tensor& out = call.out("out");
    in_parallel(x.elements(), 4, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> values(static_cast<std::size_t>(end - begin));
      x.read(begin, values);
      for (std::int64_t i = begin; i < end; ++i) {
        double& value = values[static_cast<std::size_t>(i - begin)];
        value = y == nullptr ? function.one(value) : function.two(value, y->at(i % period));
        value = scale * value + offset;
      }
      out.write(begin, values);
    });
  }
};

}  // namespace

void register_host_op_elementwise(HostOpRegistry& registry) {
  registry.add("elementwise", "scale * function(x) + offset or scale * function(x, y) + offset",
               [] { return std::make_unique<Elementwise>(); });
}

}  // namespace warpath
