#include <array>
#include <cmath>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class RmsNorm final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        kRowsIn,
        kRowsOut,
        kChannelWeight,
        Operand{"eps", Operand::Kind::number, false, "added to the mean square, default 1e-5"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    call.require_shape("out", call.shape("x"));
    if (call.has("weight")) call.require_shape("weight", {rows_of(call.shape("x")).columns});
  }
  void run(OpCall& call) const override {
    const double eps = call.number("eps", 1e-5);
    const std::vector<double> weight =
        values_or(call, "weight", rows_of(call.shape("x")).columns, 1);
    map_rows(call, [&](std::span<double> row) {
      double squares = 0;
      for (const double value : row) squares += value * value;
      const double size = std::sqrt(squares / static_cast<double>(row.size()) + eps);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = row[i] / size * weight[i];
    });
  }
};

}  // namespace

void register_host_op_rms_norm(HostOpRegistry& registry) {
  registry.add("rms_norm", "x / sqrt(mean square + eps) * weight over the last dimension",
               [] { return std::make_unique<RmsNorm>(); });
}

}  // namespace warpath
