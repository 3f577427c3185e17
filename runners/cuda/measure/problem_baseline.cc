#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "runners/cuda/measure/problem.h"
#include "runners/cuda/measure/trial.h"
#include "runners/inputs/input_choices.h"
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

}  // namespace

/// For a launch on memory of its own: inputs of `set`, outputs poisoned, noise around them.
void Problem::place_inputs(std::size_t w, const Slot& slot, const InputSet& set) {
  const PlacedWorkload& placed = placed_[w];
  for (const Slot::Zone& zone : slot.zones)
    bench_.harness().guard_fill(bench_.stream(), zone.address, zone.size_bytes, kGuardSeed);
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (tensor.size_bytes == 0) continue;
    if (tensor.is_read()) {
      require(bench_.api(),
              bench_.api().cuMemcpyDtoDAsync(slot.tensors[t], set.pristine[t].get(),
                                             tensor.size_bytes, bench_.stream()),
              "cannot copy inputs");
    } else {
      bench_.harness().poison(bench_.stream(), slot.tensors[t], tensor.elements, tensor.dtype, 0);
    }
  }
}

/// By tensor, stay_in_range() of the baseline, whose results on `set` are in `slot`.
std::vector<bool> Problem::keeps_range(std::size_t w, const InputSet& set, const Slot& slot) {
  const PlacedWorkload& placed = placed_[w];
  std::vector<bool> out(placed.tensors.size());
  constexpr double kMostBytes = 0x1p29;  // that the host looks at
  if (placed.launch_bytes > kMostBytes) return out;
  const auto values = [&](bool written, const auto& address) {
    bench_.synchronize("the baseline");
    std::vector<Tensor> found;
    for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
      const TensorPlace& tensor = placed.tensors[t];
      if (written ? tensor.is_written() : tensor.is_read())
        found.push_back(download(bench_.api(), tensor, address(t)));
    }
    return found;
  };
  const auto in_slot = [&](std::size_t t) { return slot.tensors[t]; };
  const std::vector<Tensor> results = values(true, in_slot);
  const auto other = make_inputs(w, FamilyChoice{.family = set.family}.near_one(), set.seed);
  const TrialRequest request{.candidate = setup_.baseline};
  Trial baseline(bench_, *this, request);
  place_inputs(w, slot, *other);
  baseline.launch_at(w, slot.tensors, bench_.stream());
  const std::vector<bool> stays =
      stay_in_range(set.family, values(false, [&](std::size_t t) { return set.pristine[t].get(); }),
                    results, values(true, in_slot));
  std::size_t result = 0;
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (placed.tensors[t].is_written()) out[t] = stays[result++];
  }
  return out;
}

const FamilyBaseline& Problem::baseline_on(std::size_t w, const InputSet& set) {
  if (set.baseline) {
    set.baseline->keeps_class = !set.class_varies;
    return *set.baseline;
  }
  const PlacedWorkload& placed = placed_[w];
  const TrialRequest request{.candidate = setup_.baseline};
  Trial baseline(bench_, *this, request);
  const Slot slot = make_slot(placed, false);  // the candidate's outputs must stay
  place_inputs(w, slot, set);
  with_scalars_of(w, set, [&] { baseline.launch_at(w, slot.tensors, bench_.stream()); });
  FamilyBaseline found{.result = by_tolerance(baseline, w, slot.tensors, set)};
  found.keeps_class = !set.class_varies;
  if (is_near_range_end(set.family)) found.keeps_range = keeps_range(w, set, slot);
  found.is_exact = found.result.passed && found.result.max_abs_error == 0 &&
                   set.family == InputFamily::small_integers &&
                   are_integers(bench_.api(), placed, slot);
  return set.baseline.emplace(std::move(found));
}

const std::vector<Reach>& Problem::reach(std::size_t w, const InputSet& set) {
  if (!set.reach.empty()) return set.reach;
  const PlacedWorkload& placed = placed_[w];
  const TrialRequest request{.candidate = setup_.baseline};
  Trial baseline(bench_, *this, request);
  const Slot slot = make_slot(placed, false);  // the candidate's outputs must stay
  std::vector<Reach> reach(placed.tensors.size(),
                           Reach{.factor = reach_factor(spec(), *placed.workload)});
  const std::vector<Tolerance> tolerances = baseline.tolerances(w, set);
  const auto launch = [&](double share) {
    const double ns = with_scalars_of(w, set, [&] {
      return bench_.time([&] { baseline.launch_at(w, slot.tensors, bench_.stream()); },
                         "the baseline");
    });
    const std::vector<Comparison> found =
        baseline.compare_each(w, slot.tensors, set, tolerances, "the baseline");
    for (std::size_t t = 0; t < found.size(); ++t) {
      if (!placed.tensors[t].is_written()) continue;
      extend(reach[t].baseline, found[t], share);
      if (info(placed.tensors[t].dtype).is_float && !tolerances[t].exact)
        set.class_varies = set.class_varies || !classes_agree(found[t]);
    }
    return ns;
  };
  place_inputs(w, slot, set);
  constexpr double kLongNs = 20e6;
  // launches on inputs nudged at random
  const std::uint64_t at_random = launch(1) > kLongNs ? 1 : kRandomNudges;
  std::set<DType> types;
  for (const TensorPlace& tensor : placed.tensors) {
    if (tensor.is_read() && info(tensor.dtype).is_float) types.insert(tensor.dtype);
  }
  for (const DType type : types) {
    for (std::uint64_t seed = 0; seed <= at_random; ++seed) {
      place_inputs(w, slot, set);
      for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
        const TensorPlace& tensor = placed.tensors[t];
        if (!tensor.is_read() || tensor.dtype != type) continue;
        bench_.harness().nudge(bench_.stream(), slot.tensors[t], tensor.elements, type,
                               seed == 0 ? 0 : seed + kRandomNudges * t);
      }
      launch(nudge_share(type));
    }
  }
  for (const PtxRounding direction : {PtxRounding::upward, PtxRounding::downward})
    extend_to_reference(w, set, slot, tolerances, direction, reach);
  return set.reach = std::move(reach);
}

void Problem::extend_to_reference(std::size_t w,
                                  const InputSet& set,
                                  const Slot& slot,
                                  const std::vector<Tolerance>& tolerances,
                                  PtxRounding direction,
                                  std::vector<Reach>& reach) {
  if (!reference_is_kernel()) return;
  TrialRequest request{.candidate = reference_kernel()};
  for (CandidateCode& code : request.candidate.codes) {
    if (code.ptx.empty()) return;
    code.cubin = round_ptx(code.ptx, direction);
  }
  try {
    Trial rounded(bench_, *this, request);
    place_inputs(w, slot, set);
    with_scalars_of(w, set, [&] { rounded.launch_at(w, slot.tensors, bench_.stream()); });
    const std::vector<Comparison> found =
        rounded.compare_each(w, slot.tensors, set, tolerances, "the reference, rounded");
    for (std::size_t t = 0; t < found.size(); ++t)
      if (placed_[w].tensors[t].is_written()) extend(reach[t].reference, found[t]);
  } catch (const CandidateFault& fault) {
    if (fault.poisoned) throw;  // otherwise the driver does not take it, and nothing is known
  }
}

}  // namespace warpath::cuda
