#include <array>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class RowScan final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        kRowsIn,
        kRowsOut,
        Operand{"exclusive", Operand::Kind::flag, false,
                "leave out the element itself, default false"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override { call.require_shape("out", call.shape("x")); }
  void run(OpCall& call) const override {
    const bool exclusive = call.flag("exclusive", false);
    map_rows(call, [exclusive](std::span<double> row) {
      double sum = 0;
      for (double& value : row) {
        const double before = sum;
        sum += value;
        value = exclusive ? before : sum;
      }
    });
  }
};

}  // namespace

void register_host_op_row_scan(HostOpRegistry& registry) {
  registry.add("row_scan", "prefix sum over the last dimension",
               [] { return std::make_unique<RowScan>(); });
}

}  // namespace warpath
