#include <array>
#include <utility>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class Transpose final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"x", Operand::Kind::tensor, true, "[..., R, C]"},
        Operand{"out", Operand::Kind::output, true, "[..., C, R]"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    OpCall::Shape expected = call.shape("x");
    call.require(expected.size() >= 2, "x", "at least two dimensions");
    std::swap(expected[expected.size() - 1], expected[expected.size() - 2]);
    call.require_shape("out", expected);
  }
  void run(OpCall& call) const override {
    const Tensor& x = call.in("x");
    Tensor& out = call.out("out");
    const std::int64_t columns = x.shape[x.shape.size() - 1];
    const std::int64_t rows = x.shape[x.shape.size() - 2];
    in_parallel(rows_of(out.shape).rows, rows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end;
           ++i) {  // row of `out`: column i % columns of matrix i / columns
        const std::int64_t first = i / columns * rows * columns + i % columns;
        for (std::int64_t r = 0; r < rows; ++r) out.set(i * rows + r, x.at(first + r * columns));
      }
    });
  }
};

}  // namespace

void register_host_op_transpose(HostOpRegistry& registry) {
  registry.add("transpose", "the last two dimensions exchanged",
               [] { return std::make_unique<Transpose>(); });
}

}  // namespace warpath
