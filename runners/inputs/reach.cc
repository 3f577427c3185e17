#include "runners/inputs/reach.h"

#include <algorithm>
#include <cmath>

#include "engine/base/format.h"
#include "engine/portable/nudge.h"
#include "runners/inputs/exponentials.h"
#include "runners/inputs/input_family.h"

namespace warpath {
namespace {

/// How many terms a result of the kernel may add up, by the operations that the spec declares, by
/// what there is to read for each result, and by what there is for each of its threads: the results
/// of a group share its sums.
double terms_of_a_result(const KernelSpec& spec, const Workload& workload) {
  double read = 0, written = 0;
  for (const ArgSpec& arg : spec.io.args) {
    if (arg.type != ArgType::tensor) continue;
    double elements = 1;
    for (const std::int64_t extent : spec.shape_of(arg, workload))
      elements *= static_cast<double>(extent);
    if (arg.role != ArgRole::output) read += elements;
    if (arg.role != ArgRole::input) written += elements;
  }
  double additions = 0;
  const Bindings bindings = spec.bindings(workload, spec.default_tunables());
  for (const auto& [type, count] : spec.bound.flops) {
    if (type != "sfu")
      additions +=
          static_cast<double>(count.evaluate(bindings, spec.place("/bound/flops/" + type))) / 2;
  }
  const LaunchNumbers launch =
      evaluate(spec.launch_of(workload), bindings, spec.place("/kernel/io/launch"));
  double threads = 1;
  for (std::size_t axis = 0; axis < 3; ++axis)
    threads *= static_cast<double>(launch.grid[axis] * launch.block[axis]);
  return std::max(std::max(read, additions) / std::max(written, 1.0),
                  read / std::max(threads, 1.0));
}

/// Of so many elements one is beyond Distance::usual_ratio.
constexpr std::int64_t kUnusual = 1024;
/// Of so many elements of a correct result one may be far beyond the baseline's.
constexpr std::int64_t kFew = 32;

/// The bound of each element multiplied by `factor`.
Tolerance times(Tolerance tolerance, double factor) {
  tolerance.atol *= factor;
  tolerance.rtol *= factor;
  return tolerance;
}

}  // namespace

double reach_factor(const KernelSpec& spec, const Workload& workload) {
  constexpr double kLeast = Reach{}.factor;
  return std::max(kLeast, 0.5 * std::sqrt(terms_of_a_result(spec, workload)));
}

Tolerance tolerance_on(InputFamily family, const KernelSpec& spec, std::string_view output) {
  Tolerance tolerance = spec.tolerance_of(output);
  const auto arg = std::ranges::find(spec.io.args, output, &ArgSpec::name);
  if (arg == spec.io.args.end()) return tolerance;
  const DType dtype = arg->tensor->dtype;
  // Which of two zeros a maximum or a sum gives no contract says.
  const bool has_both_zeros =
      family == InputFamily::at_most_zero || family == InputFamily::at_least_zero;
  if (tolerance.exact && has_both_zeros && info(dtype).is_float)
    tolerance = {.atol = 0, .rtol = 0, .norm = 0, .exact = false};
  if (tolerance.exact) return tolerance;
  const double growth = portable::family_growth(family, dtype);
  if (growth <= 1 || !takes_exponentials(spec)) return tolerance;
  constexpr double kArgument = 32;  // of declared inputs, about
  const double relative =
      kArgument * growth * portable::nudge_step(dtype == DType::f64 ? DType::f64 : DType::f32) / 2;
  tolerance.rtol += relative;
  tolerance.norm += relative;
  return tolerance;
}

CompareUnder compare_under(const Tensor& output, const Tensor& reference, Infinities infinities) {
  return [&output, &reference, infinities](const Tolerance& tolerance) {
    return compare(output, reference, tolerance, infinities);
  };
}

bool classes_agree(const Comparison& comparison) {
  return std::isfinite(comparison.worst_ratio);
}

void extend(Distance& distance,
            const Comparison& found,
            const Tolerance& tolerance,
            const CompareUnder& again,
            double share) {
  if (!classes_agree(found)) return;
  distance.ratio = std::max(distance.ratio, share * found.worst_ratio);
  distance.error = std::max(distance.error, share * found.max_abs_error);
  distance.norm = std::max(distance.norm, share * found.relative_norm);
  double usual = 1;
  for (std::int64_t beyond = found.bad_elements; beyond > found.elements / kUnusual;) {
    usual *= 4;
    if (usual >= found.worst_ratio) break;
    beyond = again(times(tolerance, usual)).bad_elements;
  }
  distance.usual_ratio = std::max(distance.usual_ratio, share * usual);
}

double norm_within(const Reach& reach) {
  return reach.factor * reach.baseline.norm + reach.reference.norm;
}

Tolerance widened(const Tolerance& tolerance, const Reach& reach) {
  Tolerance out = tolerance;
  out.atol += reach.factor * reach.baseline.error + reach.reference.error;
  out.norm = std::max(out.norm, norm_within(reach));
  return out;
}

Comparison judge_by_reach(Comparison found,
                          const Tolerance& tolerance,
                          const Reach& reach,
                          const CompareUnder& again) {
  if (found.passed) return found;
  const double most = reach.factor * reach.baseline.ratio + reach.reference.ratio;
  if (found.worst_ratio > std::max(1.0, most)) {
    if (reach.baseline.ratio > 0)
      found.detail += "; " + number_text(found.worst_ratio / reach.baseline.ratio, 3) +
                      " times what the baseline is off by here";
    return found;
  }
  const double usual =
      std::max(1.0, reach.factor * reach.baseline.usual_ratio + reach.reference.usual_ratio);
  if (found.bad_elements > found.elements / kFew && usual < found.worst_ratio) {
    const std::int64_t beyond = again(times(tolerance, usual)).bad_elements;
    if (beyond > found.elements / kFew) {
      found.detail += "; the baseline is off by as much in a few elements here, and this in " +
                      std::to_string(beyond);
      return found;
    }
  }
  Comparison by_widened = again(widened(tolerance, reach));
  by_widened.worst_ratio = found.worst_ratio;
  by_widened.detail += "; by what the baseline is off by here";
  return by_widened;
}

Comparison compare_within(const Tensor& output,
                          const Tensor& reference,
                          const Tolerance& tolerance,
                          const Reach& reach,
                          Infinities infinities) {
  const CompareUnder under = compare_under(output, reference, infinities);
  Comparison found = under(tolerance);
  const Tolerance wide = widened(tolerance, reach);
  const bool is_wider = wide.atol > tolerance.atol || wide.norm > tolerance.norm;
  if (found.passed || tolerance.exact || !is_wider) return found;
  return judge_by_reach(std::move(found), tolerance, reach, under);
}

double tail_factor(InputFamily family) {
  constexpr double kFewLarge = 32;
  const bool has_few_large = family == InputFamily::heavy_tail ||
                             family == InputFamily::rare_outliers || family == InputFamily::lone;
  return has_few_large ? kFewLarge : 1;
}

Tolerance scaled(Tolerance tolerance, InputFamily family, const ResultSize& size) {
  constexpr double kLeast = 0x1p-126;
  double scale = size.ratio;
  // What depends on none of the few large inputs is as small as ever.
  if (family == InputFamily::outlier) scale = std::min(scale, 1.0);
  if (scale < 1 && !may_be_smaller(family)) {
    if (tolerance.norm > 0) tolerance.norm /= scale;  // infinite where all results are zero
    scale = 1;
  }
  tolerance.atol = std::max(tolerance.atol * scale, kLeast);
  if (!may_be_smaller(family)) tolerance.atol += tolerance.rtol * size.declared;
  return tolerance;
}

double nudge_share(DType dtype) {
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16;
  return narrow ? portable::nudge_step(DType::f32) / portable::nudge_step(dtype) : 1;
}

void nudge(Tensor& tensor, std::uint64_t seed) {
  if (!info(tensor.dtype).is_float) return;
  for (std::int64_t i = 0, n = tensor.elements(); i < n; ++i) {
    tensor.set(i,
               portable::nudged(tensor.dtype, seed, static_cast<std::uint64_t>(i), tensor.at(i)));
  }
}

}  // namespace warpath
