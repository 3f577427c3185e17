#include <array>
#include <cmath>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/matrix.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

OpCall::Shape replaced_end(OpCall::Shape shape, std::int64_t rows, std::int64_t columns) {
  shape[shape.size() - 2] = rows;
  shape[shape.size() - 1] = columns;
  return shape;
}

/// Rows of scores become probabilities, in place.
void softmax_rows(Matrix& scores, bool causal) {
  for (Eigen::Index t = 0; t < scores.rows(); ++t) {
    const Eigen::Index seen = causal ? std::min(t + 1, scores.cols()) : scores.cols();
    auto row = scores.row(t).head(seen);
    row = (row.array() - row.maxCoeff()).exp();
    row /= row.sum();
    scores.row(t).tail(scores.cols() - seen).setZero();
  }
}

class Attention final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"q", Operand::Kind::tensor, true, "[..., T, D]"},
        Operand{"k", Operand::Kind::tensor, true, "[..., S, D]"},
        Operand{"v", Operand::Kind::tensor, true, "[..., S, E]"},
        Operand{"out", Operand::Kind::output, true, "[..., T, E]"},
        Operand{"causal", Operand::Kind::flag, false,
                "query t sees keys 0 to t only, default false"},
        Operand{"scale", Operand::Kind::number, false, "factor of the scores, default 1 / sqrt(D)"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    const OpCall::Shape& q = call.shape("q");
    const OpCall::Shape& v = call.shape("v");
    call.require(q.size() >= 2, "q", "at least two dimensions");
    call.require(v.size() == q.size(), "v", "as many dimensions as q");
    const std::int64_t keys = v[v.size() - 2];
    call.require(keys > 0, "v", "at least one key");
    call.require_shape("k", replaced_end(q, keys, q.back()));
    call.require_shape("v", replaced_end(q, keys, v.back()));
    call.require_shape("out", replaced_end(q, q[q.size() - 2], v.back()));
  }
  void run(OpCall& call) const override {
    const Tensor& q = call.in("q");
    const Tensor& k = call.in("k");
    const Tensor& v = call.in("v");
    Tensor& out = call.out("out");
    const std::int64_t depth = q.shape.back(), queries = q.shape[q.shape.size() - 2];
    const std::int64_t width = v.shape.back(), keys = v.shape[v.shape.size() - 2];
    const double scale = call.number("scale", 1 / std::sqrt(static_cast<double>(depth)));
    if (out.elements() == 0) return;
    for (std::int64_t head = 0; head < out.elements() / (queries * width); ++head) {
      const Matrix left = load_matrix(q, head * queries * depth, queries, depth) * scale;
      const Matrix right = load_matrix(k, head * keys * depth, keys, depth).transpose();
      Matrix scores = product(left, right);
      softmax_rows(scores, call.flag("causal", false));
      store_matrix(product(scores, load_matrix(v, head * keys * width, keys, width)),
                   head * queries * width, out);
    }
  }
};

}  // namespace

void register_host_op_attention(HostOpRegistry& registry) {
  registry.add("attention", "softmax(scale * q k^T) v, batched over leading dimensions",
               [] { return std::make_unique<Attention>(); });
}

}  // namespace warpath
