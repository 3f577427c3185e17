#include "runners/cuda/measure/problem.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/round_up.h"
#include "engine/portable/guard.h"
#include "runners/cuda/measure/cache_plan.h"
#include "runners/cuda/measure/trial.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/input_choices.h"
#include "runners/inputs/range_end.h"

namespace warpath::cuda {
namespace {

/// Megabytes behind a buffer have been seen overwritten by a plain indexing error.
constexpr std::size_t kZoneBytes = std::size_t{16} << 20U;
/// Addresses are as aligned as an allocator's, in every slot but the odd one.
constexpr std::size_t kSlotAlignment = 256;

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

std::string InputSet::label() const {
  return format("seed %llx, ", static_cast<unsigned long long>(seed)) +
         (form_label.empty() ? std::string(name_of(family)) : form_label);
}

bool PlacedWorkload::mutates_inputs() const {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const TensorPlace& t) { return t.role == ArgRole::inout; });
}

Problem::Problem(Bench& bench, ProblemSetup setup) : bench_(bench), setup_(std::move(setup)) {
  const Candidate& reference = setup_.reference ? *setup_.reference : setup_.baseline;
  for (const CandidateCode& code : reference.codes) {
    std::string why;
    auto kernel = load_kernel(bench_.api(), code.cubin, code.entry, why);
    if (!kernel) throw environment_error(spec().name + ": the reference kernel: " + why);
    reference_kernels_.push_back(std::move(*kernel));
  }
  for (const std::string& name : setup_.workloads) {
    const auto it = std::find_if(spec().workloads.begin(), spec().workloads.end(),
                                 [&](const Workload& w) { return w.name == name; });
    WARPATH_CHECK(it != spec().workloads.end());
    place(*it);
  }
  const auto declared = static_cast<std::uint64_t>(bench_.options().input_sets);
  for (std::size_t w = 0; w < placed_.size(); ++w) {
    std::vector<InputSet*> sets;
    for (std::uint64_t i = 0; i < declared; ++i) {
      placed_[w].sets.push_back(make_inputs(w, InputFamily::as_declared, setup_.seed + i));
      sets.push_back(placed_[w].sets.back().get());
    }
    const auto begin = std::chrono::steady_clock::now();
    make_references(w, sets);
    reference_seconds_ +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (std::uint64_t i = 0; i < declared; ++i) {
      placed_[w].slots.push_back(make_slot(placed_[w], i + 1 == declared));
    }
    arm_guards(w);
  }
}

void Problem::place(const Workload& workload) {
  PlacedWorkload placed;
  placed.workload = &workload;
  if (has_structs(spec())) placed.structs = parameter_layouts(spec());
  for (const ArgSpec* const arg : kernel_arguments(spec())) {
    ParameterPlace parameter;
    if (arg->type == ArgType::tensor) {
      const TensorSpec content = spec().tensor_of(*arg, workload);
      TensorPlace tensor{.arg = arg,
                         .dtype = content.dtype,
                         .role = arg->role,
                         .shape = spec().shape_of(*arg, workload),
                         .elements = 1,
                         .size_bytes = 0,
                         .alignment_bytes = static_cast<std::size_t>(content.alignment_bytes)};
      for (const auto extent : tensor.shape) tensor.elements *= static_cast<std::uint64_t>(extent);
      tensor.size_bytes = tensor.elements * info(content.dtype).size_bytes;
      placed.launch_bytes += static_cast<double>(tensor.size_bytes);
      parameter.tensor = placed.tensors.size();
      placed.tensors.push_back(std::move(tensor));
    } else if (const auto scalar = scalar_value(*arg, workload)) {
      parameter.bytes = scalar_bytes(*scalar, arg->dtype);
    }
    placed.parameters.push_back(std::move(parameter));
  }
  const Bindings bindings = spec().bindings(workload, spec().default_tunables());
  const std::string at = spec().place("/bound");
  for (const auto& [type, count] : spec().bound.flops) {
    placed.operations[type] = static_cast<double>(count.evaluate(bindings, at));
  }
  if (spec().bound.bytes)
    placed.bytes = static_cast<double>(spec().bound.bytes->evaluate(bindings, at));
  placed.cold_scored = cache_plan(workload.l2, bench_.options().l2, Stage::screening).cold_scored;
  placed.floor_ns = bench_.peaks().floor_ns(placed.bytes, placed.operations, !placed.cold_scored);
  placed_.push_back(std::move(placed));
}

Slot Problem::make_slot(const PlacedWorkload& placed, bool odd) {
  Slot slot;
  if (setup_.exact_memory) {
    for (const TensorPlace& tensor : placed.tensors) {
      slot.memory.push_back(allocate(bench_.api(), std::max<std::size_t>(tensor.size_bytes, 1)));
      slot.tensors.push_back(slot.memory.back().get());
    }
    return slot;
  }
  // The odd slot's tensors start at odd multiples of the declared alignment: more cannot be relied
  // on.
  std::size_t total = kZoneBytes;
  std::vector<std::size_t> offsets;
  for (const TensorPlace& tensor : placed.tensors) {
    const std::size_t alignment = std::max<std::size_t>(tensor.alignment_bytes, 1);
    std::size_t offset = round_up(total, std::max(kSlotAlignment, 2 * alignment));
    if (odd) offset += alignment;
    offsets.push_back(offset);
    total = offset + tensor.size_bytes + kZoneBytes;
  }
  slot.memory.push_back(allocate(bench_.api(), total));
  const CUdeviceptr base = slot.memory.front().get();
  std::size_t zone = 0;
  for (std::size_t t = 0; t < offsets.size(); ++t) {
    slot.tensors.push_back(base + offsets[t]);
    slot.zones.push_back({base + zone, offsets[t] - zone});
    zone = offsets[t] + placed.tensors[t].size_bytes;
  }
  slot.zones.push_back({base + zone, total - zone});
  return slot;
}

void Problem::restore(std::size_t w, std::size_t slot, const InputSet& set) {
  const PlacedWorkload& placed = placed_[w];
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    if (!placed.tensors[t].is_read() || placed.tensors[t].size_bytes == 0) continue;
    require(bench_.api(),
            bench_.api().cuMemcpyDtoDAsync(placed.slots[slot].tensors[t], set.pristine[t].get(),
                                           placed.tensors[t].size_bytes, bench_.stream()),
            "cannot copy inputs");
  }
}

void Problem::poison(std::size_t w, std::size_t slot, std::uint64_t seed) {
  const PlacedWorkload& placed = placed_[w];
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (tensor.role != ArgRole::output || tensor.elements == 0) continue;
    bench_.harness().poison(bench_.stream(), placed.slots[slot].tensors[t], tensor.elements,
                            tensor.dtype, seed + 2 * t);
  }
}

void Problem::arm_guards(std::size_t w) {
  auto& slots = placed_[w].slots;
  for (std::size_t s = 0; s < slots.size(); ++s) {
    Slot& slot = slots[s];
    // Where there are three, one that is not the first and not the barely aligned one has zeros: a
    // small number added to a large one leaves no trace. What is read outside should be no zero in
    // the others.
    slot.guard_seed = s == 1 && s + 1 < slots.size() ? portable::kZeroGuard : bench_.secret();
    for (const Slot::Zone& zone : slot.zones) {
      bench_.harness().guard_fill(bench_.stream(), zone.address, zone.size_bytes, slot.guard_seed);
    }
  }
}

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
      extend(reach[t].baseline, found[t], tolerances[t],
             baseline.compare_one(w, t, slot.tensors, set, "the baseline"), share);
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
      if (placed_[w].tensors[t].is_written())
        extend(reach[t].reference, found[t], tolerances[t],
               rounded.compare_one(w, t, slot.tensors, set, "the reference, rounded"));
  } catch (const CandidateFault& fault) {
    if (fault.poisoned) throw;  // otherwise the driver does not take it, and nothing is known
  }
}

}  // namespace warpath::cuda
