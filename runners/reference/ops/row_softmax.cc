#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class RowSoftmax final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        kRowsIn,
        kRowsOut,
        Operand{"scale", Operand::Kind::number, false, "factor of x, default 1"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override { call.require_shape("out", call.shape("x")); }
  void run(OpCall& call) const override {
    const double scale = call.number("scale", 1);
    map_rows(call, [scale](std::span<double> row) {
      double largest = -std::numeric_limits<double>::infinity();
      for (double& value : row) largest = std::max(largest, value *= scale);
      double sum = 0;
      for (double& value : row) sum += value = std::exp(value - largest);
      for (double& value : row) value /= sum;
    });
  }
};

}  // namespace

void register_host_op_row_softmax(HostOpRegistry& registry) {
  registry.add("row_softmax", "softmax of scale * x over the last dimension",
               [] { return std::make_unique<RowSoftmax>(); });
}

}  // namespace warpath
