#include <array>
#include <cmath>
#include <numeric>

#include "register_host_ops.h"
#include "runners/reference/host_op.h"
#include "runners/reference/rows.h"

namespace warpath {
namespace {

class GroupNormSilu final : public HostOp {
 public:
  [[nodiscard]] std::span<const Operand> operands() const override {
    static constexpr std::array kOperands{
        Operand{"x", Operand::Kind::tensor, true, "[B, C, ...]"},
        Operand{"out", Operand::Kind::output, true, "the shape of x"},
        Operand{"groups", Operand::Kind::integer, true, "number of groups, a divisor of C"},
        kChannelWeight,
        kChannelBias,
        kVarianceEps,
        Operand{"activation", Operand::Kind::word, false, "silu|none"},
    };
    return kOperands;
  }
  void check(const OpCall& call) const override {
    const OpCall::Shape& x = call.shape("x");
    call.require(x.size() >= 2, "x", "at least two dimensions");
    call.require_shape("out", x);
    const std::int64_t groups = call.integer("groups", 1);
    if (groups < 1 || x[1] % groups != 0) {
      throw call.problem("groups", std::to_string(groups),
                         "a divisor of the " + std::to_string(x[1]) + " channels");
    }
    if (call.has("weight")) call.require_shape("weight", {x[1]});
    if (call.has("bias")) call.require_shape("bias", {x[1]});
  }
  void run(OpCall& call) const override {
    const Tensor& x = call.in("x");
    Tensor& out = call.out("out");
    const double eps = call.number("eps", 1e-5);
    const bool silu = call.word("activation", "silu") == "silu";
    const std::int64_t channels = x.shape[1], groups = call.integer("groups", 1);
    if (x.elements() == 0) return;
    const std::vector<double> weight = values_or(call, "weight", channels, 1);
    const std::vector<double> bias = values_or(call, "bias", channels, 0);
    const std::int64_t inner = x.elements() / (x.shape[0] * channels);  // elements of one channel
    const std::int64_t size = channels / groups * inner;  // elements of one group, contiguous
    in_parallel(x.shape[0] * groups, size, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> group(static_cast<std::size_t>(size));
      for (std::int64_t g = begin; g < end; ++g) {
        x.read(g * size, group);
        const double mean =
            std::accumulate(group.begin(), group.end(), 0.0) / static_cast<double>(size);
        double squares = 0;
        for (const double value : group) squares += (value - mean) * (value - mean);
        const double deviation = std::sqrt(squares / static_cast<double>(size) + eps);
        for (std::int64_t i = 0; i < size; ++i) {
          const auto c = static_cast<std::size_t>((g % groups) * (channels / groups) + i / inner);
          double& value = group[static_cast<std::size_t>(i)];
          value = (value - mean) / deviation * weight[c] + bias[c];
          if (silu) value /= 1 + std::exp(-value);
        }
        out.write(g * size, group);
      }
    });
  }
};

}  // namespace

void register_host_op_group_norm_silu(HostOpRegistry& registry) {
  registry.add("group_norm_silu",
               "group normalisation over [B, C, ...] with weight and bias a channel, then silu",
               [] { return std::make_unique<GroupNormSilu>(); });
}

}  // namespace warpath
