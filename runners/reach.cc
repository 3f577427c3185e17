#include "runners/reach.h"

#include <algorithm>
#include <cmath>

#include "engine/portable/nudge.h"

namespace warpath {

bool classes_agree(const Comparison& comparison) {
  return std::isfinite(comparison.worst_ratio);
}

void extend(Reach& reach, const Comparison& baseline, double share) {
  if (!classes_agree(baseline)) return;
  reach.ratio = std::max(reach.ratio, share * baseline.worst_ratio);
  reach.error = std::max(reach.error, share * baseline.max_abs_error);
  reach.norm = std::max(reach.norm, share * baseline.relative_norm);
}

Tolerance widened(const Tolerance& tolerance, const Reach& reach) {
  Tolerance out = tolerance;
  out.atol += kReachFactor * reach.error;
  out.norm = std::max(out.norm, kReachFactor * reach.norm);
  return out;
}

Comparison judge_by_reach(Comparison by_tolerance, Comparison by_widened, const Reach& reach) {
  if (by_tolerance.passed) return by_tolerance;
  if (by_tolerance.worst_ratio > std::max(1.0, kReachFactor * reach.ratio)) {
    char text[96];
    std::snprintf(text, sizeof text, "; %.3g times what the baseline is off by here", by_tolerance.worst_ratio / reach.ratio);
    if (reach.ratio > 0) by_tolerance.detail += text;
    return by_tolerance;
  }
  by_widened.worst_ratio = by_tolerance.worst_ratio;
  by_widened.detail += "; by what the baseline is off by here";
  return by_widened;
}

Tolerance scaled(Tolerance tolerance, double scale) {
  constexpr double kLeast = 0x1p-126;
  tolerance.atol = std::max(tolerance.atol * scale, kLeast);
  return tolerance;
}

double nudge_share(DType dtype) {
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  return narrow ? portable::nudge_step(DType::f32) / portable::nudge_step(dtype) : 1;
}

void nudge(Tensor& tensor, std::uint64_t seed) {
  if (!info(tensor.dtype).is_float) return;
  for (std::int64_t i = 0, n = tensor.elements(); i < n; ++i) {
    tensor.set(i, portable::nudged(tensor.dtype, seed, static_cast<std::uint64_t>(i), tensor.at(i)));
  }
}

}  // namespace warpath
