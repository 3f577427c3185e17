#include <array>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/matrix.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class GroupedMatmul final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"x", Operand::Kind::tensor, true, "[R, K]"},
        Operand{"offsets", Operand::Kind::tensor, true,
                "integers [G + 1]: group g owns rows offsets[g] to offsets[g + 1] - 1"},
        Operand{"w", Operand::Kind::tensor, true, "[G, K, N], or [G, N, K] with transpose_w"},
        Operand{"out", Operand::Kind::output, true, "[R, N]"},
        Operand{"transpose_w", Operand::Kind::flag, false, "default false"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    const OpCall::Shape& x = call.shape("x");
    const OpCall::Shape& w = call.shape("w");
    const bool transposed = call.flag("transpose_w", false);
    call.require(x.size() == 2, "x", "two dimensions");
    call.require(w.size() == 3, "w", "three dimensions");
    call.require(w[transposed ? 2 : 1] == x[1], "w",
                 "an inner dimension of " + std::to_string(x[1]));
    if (info(call.dtype("offsets")).is_float)
      throw call.problem("offsets", info(call.dtype("offsets")).name, "an integer tensor");
    call.require_shape("offsets", {w[0] + 1});
    call.require_shape("out", {x[0], w[transposed ? 1 : 2]});
  }
  void run(OpCall& call) const override {
    const Tensor& x = call.in("x");
    const Tensor& w = call.in("w");
    Tensor& out = call.out("out");
    const std::vector<double> offsets = load_all(call.in("offsets"));
    check_offsets(call, offsets, x.shape[0]);
    for (std::size_t g = 0; g + 1 < offsets.size(); ++g) {
      const auto first = static_cast<std::int64_t>(offsets[g]),
                 last = static_cast<std::int64_t>(offsets[g + 1]);
      if (first == last) continue;
      Matrix weights = load_matrix(w, static_cast<std::int64_t>(g) * w.shape[1] * w.shape[2],
                                   w.shape[1], w.shape[2]);
      if (call.flag("transpose_w", false)) weights.transposeInPlace();
      const Matrix rows = load_matrix(x, first * x.shape[1], last - first, x.shape[1]);
      store_matrix(product(rows, weights), first * out.shape[1], out);
    }
  }

 private:
  static void check_offsets(const OpCall& call,
                            const std::vector<double>& offsets,
                            std::int64_t rows) {
    double last = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const bool at_end = i + 1 == offsets.size();
      const bool good = (i > 0 || offsets[i] == 0) && offsets[i] >= last &&
                        (!at_end || offsets[i] == static_cast<double>(rows));
      if (!good) {
        throw call.problem("offsets",
                           std::to_string(static_cast<std::int64_t>(offsets[i])) + " at element " +
                               std::to_string(i),
                           "ascending values from 0 to exactly " + std::to_string(rows));
      }
      last = offsets[i];
    }
  }
};

}  // namespace

void register_host_op_grouped_matmul(HostOpRegistry& registry) {
  registry.add("grouped_matmul", "rows of x times the matrix of their group",
               [] { return std::make_unique<GroupedMatmul>(); });
}

}  // namespace warpath
