#include <array>
#include <cmath>
#include <numeric>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class LayerNorm final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        kRowsIn, kRowsOut, kChannelWeight, kChannelBias, kVarianceEps,
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    call.require_shape("out", call.shape("x"));
    const std::int64_t columns = rows_of(call.shape("x")).columns;
    if (call.has("weight")) call.require_shape("weight", {columns});
    if (call.has("bias")) call.require_shape("bias", {columns});
  }
  void run(OpCall& call) const override {
    const double eps = call.number("eps", 1e-5);
    const std::int64_t columns = rows_of(call.shape("x")).columns;
    const std::vector<double> weight = values_or(call, "weight", columns, 1);
    const std::vector<double> bias = values_or(call, "bias", columns, 0);
    map_rows(call, [&](std::span<double> row) {
      const auto count = static_cast<double>(row.size());
      const double mean = std::accumulate(row.begin(), row.end(), 0.0) / count;
      double squares = 0;
      for (const double value : row) squares += (value - mean) * (value - mean);
      const double deviation = std::sqrt(squares / count + eps);
      for (std::size_t i = 0; i < row.size(); ++i)
        row[i] = (row[i] - mean) / deviation * weight[i] + bias[i];
    });
  }
};

}  // namespace

void register_host_op_layer_norm(HostOpRegistry& registry) {
  registry.add("layer_norm", "(x - mean) / sqrt(var + eps) * weight + bias over the last dimension",
               [] { return std::make_unique<LayerNorm>(); });
}

}  // namespace warpath
