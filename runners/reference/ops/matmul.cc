#include <Eigen/Core>
#include <array>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/matrix.h"

namespace warpath {
namespace {

class Matmul final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"a", Operand::Kind::tensor, true, "[..., M, K], or [..., K, M] with transpose_a"},
        Operand{"b", Operand::Kind::tensor, true,
                "[..., K, N], or [..., N, K] with transpose_b; without batch it serves all of a's"},
        Operand{"out", Operand::Kind::output, true, "[..., M, N]"},
        Operand{"transpose_a", Operand::Kind::flag, false, "default false"},
        Operand{"transpose_b", Operand::Kind::flag, false, "default false"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    const OpCall::Shape& a = call.shape("a");
    const OpCall::Shape& b = call.shape("b");
    call.require(a.size() >= 2, "a", "at least two dimensions");
    call.require(b.size() == 2 || b.size() == a.size(), "b", "two dimensions or as many as a");
    const bool ta = call.flag("transpose_a", false), tb = call.flag("transpose_b", false);
    const std::int64_t inner = a[a.size() - (ta ? 2 : 1)];
    OpCall::Shape out(a.begin(), a.end() - 2);
    if (b.size() > 2)
      call.require(OpCall::Shape(b.begin(), b.end() - 2) == out, "b", "the batch dimensions of a");
    call.require(b[b.size() - (tb ? 1 : 2)] == inner, "b",
                 "an inner dimension of " + std::to_string(inner));
    out.push_back(a[a.size() - (ta ? 1 : 2)]);
    out.push_back(b[b.size() - (tb ? 2 : 1)]);
    call.require_shape("out", out);
  }
  void run(OpCall& call) const override {
    const Tensor& a = call.in("a");
    const Tensor& b = call.in("b");
    Tensor& out = call.out("out");
    const bool ta = call.flag("transpose_a", false), tb = call.flag("transpose_b", false);
    const auto extents = [](const Tensor& t) {
      return std::pair{t.shape[t.shape.size() - 2], t.shape.back()};
    };
    const auto [a_rows, a_columns] = extents(a);
    const auto [b_rows, b_columns] = extents(b);
    const auto [rows, columns] = extents(out);
    const std::int64_t batches = rows * columns == 0 ? 0 : out.elements() / (rows * columns);
    for (std::int64_t i = 0; i < batches; ++i) {
      const bool shared = b.shape.size() == 2;
      Matrix left = load_matrix(a, i * a_rows * a_columns, a_rows, a_columns);
      Matrix right = load_matrix(b, shared ? 0 : i * b_rows * b_columns, b_rows, b_columns);
      if (ta) left.transposeInPlace();
      if (tb) right.transposeInPlace();
      store_matrix(product(left, right), i * rows * columns, out);
    }
  }
};

}  // namespace

void register_host_op_matmul(HostOpRegistry& registry) {
  registry.add("matmul", "matrix product, batched over leading dimensions",
               [] { return std::make_unique<Matmul>(); });
}

}  // namespace warpath
