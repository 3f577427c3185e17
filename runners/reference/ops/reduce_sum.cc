#include <array>
#include <numeric>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

/// Sums of the rows of the [rows, columns] view.
std::vector<double> sum_rows(const Tensor& x, const Rows& view) {
  std::vector<double> sums(static_cast<std::size_t>(view.rows));
  in_parallel(view.rows, view.columns, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> row(static_cast<std::size_t>(view.columns));
    for (std::int64_t i = begin; i < end; ++i) {
      x.read(i * view.columns, row);
      sums[static_cast<std::size_t>(i)] = std::accumulate(row.begin(), row.end(), 0.0);
    }
  });
  return sums;
}

/// Sums over the first dimension; `inner` is the number of elements of one slice.
std::vector<double> sum_slices(const Tensor& x, std::int64_t slices, std::int64_t inner) {
  std::vector<double> sums(static_cast<std::size_t>(inner));
  in_parallel(inner, slices, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = 0; s < slices; ++s) {
      for (std::int64_t i = begin; i < end; ++i)
        sums[static_cast<std::size_t>(i)] += x.at(s * inner + i);
    }
  });
  return sums;
}

class ReduceSum final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"x", Operand::Kind::tensor, true, "any shape"},
        Operand{"out", Operand::Kind::output, true,
                "x without the reduced dimension, or one element"},
        Operand{"over", Operand::Kind::word, false, "last|first|all"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    const OpCall::Shape& x = call.shape("x");
    const std::string over = call.word("over", "last");
    if (over == "all") {
      const Rows out = rows_of(call.shape("out"));
      call.require(out.rows * out.columns == 1, "out", "one element");
      return;
    }
    call.require(!x.empty(), "x", "at least one dimension");
    OpCall::Shape expected = x;
    expected.erase(over == "first" ? expected.begin() : expected.end() - 1);
    if (expected.empty() && call.shape("out").size() == 1) expected = {1};
    call.require_shape("out", expected);
  }
  void run(OpCall& call) const override {
    const Tensor& x = call.in("x");
    const std::string over = call.word("over", "last");
    const Rows view = rows_of(x.shape);
    if (over == "first") {
      const std::int64_t inner =
          x.shape[0] == 0 ? call.out("out").elements() : x.elements() / x.shape[0];
      call.out("out").write(0, sum_slices(x, x.shape[0], inner));
      return;
    }
    const std::vector<double> sums = sum_rows(x, view);
    if (over == "last") return call.out("out").write(0, sums);
    call.out("out").set(0, std::accumulate(sums.begin(), sums.end(), 0.0));
  }
};

}  // namespace

void register_host_op_reduce_sum(HostOpRegistry& registry) {
  registry.add("reduce_sum", "sum over the last dimension, the first or all",
               [] { return std::make_unique<ReduceSum>(); });
}

}  // namespace warpath
