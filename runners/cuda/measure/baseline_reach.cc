#include "runners/cuda/measure/baseline_reach.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "runners/cuda/code/ptx_rounding.h"
#include "runners/cuda/measure/trial.h"
#include "runners/inputs/range_end.h"

namespace warpath::cuda {
namespace {

/// True if the outputs in a slot hold integers only: the first million of each says so.
bool are_integers(const DriverApi& api, const PlacedWorkload& placed, const Slot& slot) {
  constexpr std::uint64_t kMost = 1U << 20U;
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    TensorPlace first = placed.tensors[t];
    if (!first.is_written() || !info(first.dtype).is_float) continue;
    first.elements = std::min(first.elements, kMost);
    first.shape = {static_cast<std::int64_t>(first.elements)};
    first.size_bytes = first.elements * info(first.dtype).size_bytes;
    const Tensor values = download(api, first, slot.tensors[t]);
    for (std::int64_t i = 0; i < values.elements(); ++i) {
      const double x = values.at(i);
      if (std::isfinite(x) && x != std::rint(x)) return false;
    }
  }
  return true;
}

constexpr std::uint64_t kGuardSeed = 0x6a5d;  // around what the baseline alone is launched on
constexpr std::uint64_t kRandomNudges = 3;    // of one tensor's inputs, at most

/// The output that is worst under the spec's tolerance: the first of a wrong class, else the one
/// farthest outside its bound.
Comparison by_tolerance(Trial& trial,
                        std::size_t w,
                        const std::vector<CUdeviceptr>& addresses,
                        const InputSet& set) {
  std::vector<Comparison> found =
      trial.compare_each(w, addresses, set, trial.tolerances(w, set), "the baseline");
  Comparison worst;
  worst.passed = true;
  for (std::size_t t = 0; t < found.size(); ++t) {
    if (!trial.at(w).tensors[t].is_written()) continue;
    const bool passed = worst.passed && found[t].passed;
    const double norm = std::max(worst.relative_norm, found[t].relative_norm);
    const double error = std::max(worst.max_abs_error, found[t].max_abs_error);
    if (found[t].worst_ratio >= worst.worst_ratio) worst = std::move(found[t]);
    worst.passed = passed;
    worst.relative_norm = norm;
    worst.max_abs_error = error;
  }
  return worst;
}

/// Memory of its own: the candidate's outputs must stay.
Slot separate_slot(Problem& problem, std::size_t w) {
  return problem.setup().exact_memory ? make_exact_slot(problem.bench().api(), problem.at(w))
                                      : make_slot(problem.bench().api(), problem.at(w), false);
}

/// For a launch on memory of its own: inputs of `set`, outputs poisoned, noise around them.
void place_inputs(Problem& problem, std::size_t w, const Slot& slot, const InputSet& set) {
  const PlacedWorkload& placed = problem.at(w);
  for (const Slot::Zone& zone : slot.zones)
    problem.bench().harness().guard_fill(problem.bench().stream(), zone.address, zone.size_bytes,
                                         kGuardSeed);
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (tensor.size_bytes == 0) continue;
    if (tensor.is_read()) {
      require(problem.bench().api(),
              problem.bench().api().cuMemcpyDtoDAsync(slot.tensors[t], set.pristine[t].get(),
                                                      tensor.size_bytes, problem.bench().stream()),
              "cannot copy inputs");
    } else {
      problem.bench().harness().poison(problem.bench().stream(), slot.tensors[t], tensor.elements,
                                       tensor.dtype, 0);
    }
  }
}

void launch_baseline(Problem& problem, std::size_t w, const Slot& slot, const InputSet& set) {
  const TrialRequest request{.candidate = problem.setup().baseline};
  Trial baseline(problem.bench(), problem, request);
  place_inputs(problem, w, slot, set);
  baseline.launch_at(w, slot.tensors, problem.bench().stream());
}

/// What the last launch has written.
std::vector<Tensor> results_in(Problem& problem, const PlacedWorkload& placed, const Slot& slot) {
  problem.bench().synchronize("the baseline");
  std::vector<Tensor> out;
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    if (placed.tensors[t].is_written())
      out.push_back(download(problem.bench().api(), placed.tensors[t], slot.tensors[t]));
  }
  return out;
}

/// By tensor, whether it is written and not one that makes_numbers_of_nan() says of the baseline.
std::vector<bool> keeps_nan(Problem& problem, std::size_t w, const Slot& slot) {
  const PlacedWorkload& placed = problem.at(w);
  std::vector<bool> out;
  for (const TensorPlace& tensor : placed.tensors) out.push_back(tensor.is_written());
  if (placed.launch_bytes > kMostDownloaded) return out;
  launch_baseline(problem, w, slot, *placed.sets.front());
  const std::vector<Tensor> declared = results_in(problem, placed, slot);
  const auto missing = problem.inputs().missing(placed);
  launch_baseline(problem, w, slot, *missing);
  const std::vector<Tensor> found = results_in(problem, placed, slot);
  for (std::size_t t = 0, result = 0; t < out.size(); ++t) {
    if (!placed.tensors[t].is_written()) continue;
    out[t] = !makes_numbers_of_nan(found[result], declared[result]);
    ++result;
  }
  return out;
}

/// By tensor, stay_in_range() of the baseline, whose results on `set` are in `slot`.
std::vector<bool> keeps_range(Problem& problem,
                              std::size_t w,
                              const InputSet& set,
                              const Slot& slot) {
  const PlacedWorkload& placed = problem.at(w);
  std::vector<bool> out(placed.tensors.size());
  if (placed.launch_bytes > kMostDownloaded) return out;
  const std::vector<Tensor> results = results_in(problem, placed, slot);
  const auto other =
      problem.inputs().make(placed, FamilyChoice{.family = set.family}.near_one(), set.seed);
  launch_baseline(problem, w, slot, *other);
  std::vector<Tensor> inputs;
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (placed.tensors[t].is_read())
      inputs.push_back(download(problem.bench().api(), placed.tensors[t], set.pristine[t].get()));
  }
  const std::vector<bool> stays =
      stay_in_range(set.family, inputs, results, results_in(problem, placed, slot));
  std::size_t result = 0;
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (placed.tensors[t].is_written()) out[t] = stays[result++];
  }
  return out;
}

/// Raises `reach` to what the reference kernel's results move by when it rounds in `direction`.
/// Launches it in `slot`.
void extend_to_reference(Problem& problem,
                         std::size_t w,
                         const InputSet& set,
                         const Slot& slot,
                         const std::vector<Tolerance>& tolerances,
                         PtxRounding direction,
                         std::vector<Reach>& reach) {
  if (!problem.setup().reference_is_kernel()) return;
  TrialRequest request{.candidate = problem.setup().reference_kernel()};
  for (CandidateCode& code : request.candidate.codes) {
    if (code.ptx.empty()) return;
    code.cubin = round_ptx(code.ptx, direction);
  }
  try {
    Trial rounded(problem.bench(), problem, request);
    place_inputs(problem, w, slot, set);
    problem.with_scalars_of(w, set,
                            [&] { rounded.launch_at(w, slot.tensors, problem.bench().stream()); });
    const std::vector<Comparison> found =
        rounded.compare_each(w, slot.tensors, set, tolerances, "the reference, rounded");
    for (std::size_t t = 0; t < found.size(); ++t)
      if (problem.at(w).tensors[t].is_written())
        extend(reach[t].reference, found[t], tolerances[t],
               rounded.compare_one(w, t, slot.tensors, set, "the reference, rounded"));
  } catch (const CandidateFault& fault) {
    if (fault.poisoned) throw;  // otherwise the driver does not take it, and nothing is known
  }
}

}  // namespace

const FamilyBaseline& baseline_on(Problem& problem, std::size_t w, const InputSet& set) {
  if (set.baseline) {
    set.baseline->keeps_class = !set.class_varies;
    return *set.baseline;
  }
  const PlacedWorkload& placed = problem.at(w);
  const TrialRequest request{.candidate = problem.setup().baseline};
  Trial baseline(problem.bench(), problem, request);
  const Slot slot = separate_slot(problem, w);
  place_inputs(problem, w, slot, set);
  problem.with_scalars_of(w, set,
                          [&] { baseline.launch_at(w, slot.tensors, problem.bench().stream()); });
  FamilyBaseline found{.result = by_tolerance(baseline, w, slot.tensors, set)};
  found.keeps_class = !set.class_varies;
  if (is_near_range_end(set.family)) found.judged = keeps_range(problem, w, set, slot);
  if (may_multiply(set.infinities, problem.spec())) {
    if (problem.at(w).keeps_nan.empty()) problem.at(w).keeps_nan = keeps_nan(problem, w, slot);
    found.judged = problem.at(w).keeps_nan;
  }
  found.is_exact = found.result.passed && found.result.max_abs_error == 0 &&
                   set.family == InputFamily::small_integers &&
                   are_integers(problem.bench().api(), placed, slot);
  return set.baseline.emplace(std::move(found));
}

const std::vector<Reach>& reach_on(Problem& problem, std::size_t w, const InputSet& set) {
  if (!set.reach.empty()) return set.reach;
  const PlacedWorkload& placed = problem.at(w);
  const TrialRequest request{.candidate = problem.setup().baseline};
  Trial baseline(problem.bench(), problem, request);
  const Slot slot = separate_slot(problem, w);
  std::vector<Reach> reach(placed.tensors.size(),
                           Reach{.factor = reach_factor(problem.spec(), *placed.workload)});
  const std::vector<Tolerance> tolerances = baseline.tolerances(w, set);
  const auto launch = [&](double share) {
    const double ns = problem.with_scalars_of(w, set, [&] {
      return problem.bench().time(
          [&] { baseline.launch_at(w, slot.tensors, problem.bench().stream()); }, "the baseline");
    });
    const std::vector<Comparison> found =
        baseline.compare_each(w, slot.tensors, set, tolerances, "the baseline");
    for (std::size_t t = 0; t < found.size(); ++t) {
      if (!placed.tensors[t].is_written()) continue;
      extend(reach[t].baseline, found[t], tolerances[t],
             baseline.compare_one(w, t, slot.tensors, set, "the baseline"), share);
      if (info(placed.tensors[t].dtype).is_float && !tolerances[t].exact)
        set.class_varies = set.class_varies || !classes_agree(found[t]);
    }
    return ns;
  };
  place_inputs(problem, w, slot, set);
  constexpr double kLongNs = 20e6;
  // launches on inputs nudged at random
  const std::uint64_t at_random = launch(1) > kLongNs ? 1 : kRandomNudges;
  std::set<DType> types;
  for (const TensorPlace& tensor : placed.tensors) {
    if (tensor.is_read() && info(tensor.dtype).is_float) types.insert(tensor.dtype);
  }
  for (const DType type : types) {
    for (std::uint64_t seed = 0; seed <= at_random; ++seed) {
      place_inputs(problem, w, slot, set);
      for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
        const TensorPlace& tensor = placed.tensors[t];
        if (!tensor.is_read() || tensor.dtype != type) continue;
        problem.bench().harness().nudge(problem.bench().stream(), slot.tensors[t], tensor.elements,
                                        type, seed == 0 ? 0 : seed + kRandomNudges * t);
      }
      launch(nudge_share(type));
    }
  }
  for (const PtxRounding direction : {PtxRounding::upward, PtxRounding::downward})
    extend_to_reference(problem, w, set, slot, tolerances, direction, reach);
  return set.reach = std::move(reach);
}

}  // namespace warpath::cuda
