#include "runners/cuda/measure/problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/portable/guard.h"
#include "engine/spec/tensor_init.h"
#include "runners/cuda/measure/trial.h"
#include "runners/inputs/input_choices.h"

namespace warpath::cuda {
namespace {

/// Families that gates other than `distributions` look at are never left out.
bool has_own_gate(InputFamily family) {
  return needs_whole_mantissa(family) || family == InputFamily::small_integers;
}

}  // namespace

Problem::Problem(Bench& bench, ProblemSetup setup)
    : bench_(bench), setup_(std::move(setup)), inputs_(bench_, setup_) {
  for (const std::string& name : setup_.workloads) {
    const auto it = std::find_if(spec().workloads.begin(), spec().workloads.end(),
                                 [&](const Workload& w) { return w.name == name; });
    WARPATH_CHECK(it != spec().workloads.end());
    placed_.push_back(place_workload(spec(), *it, bench_));
    placed_.back().index = placed_.size() - 1;
  }
  for (std::size_t w = 0; w < placed_.size(); ++w) fill(w);
}

/// Makes the declared sets of a workload, and a slot for each.
void Problem::fill(std::size_t w) {
  PlacedWorkload& placed = placed_[w];
  const auto declared = static_cast<std::uint64_t>(bench_.options().input_sets);
  std::vector<InputSet*> sets;
  for (std::uint64_t i = 0; i < declared; ++i) {
    placed.sets.push_back(
        inputs_.make(placed, {.family = InputFamily::as_declared}, setup_.seed + i));
    sets.push_back(placed.sets.back().get());
  }
  const Stopwatch watch;
  inputs_.make_references(placed, sets);
  reference_seconds_ += watch.seconds();
  for (std::uint64_t i = 0; i < declared; ++i) {
    placed.slots.push_back(setup_.exact_memory
                               ? make_exact_slot(bench_.api(), placed)
                               : make_slot(bench_.api(), placed, i + 1 == declared));
  }
  arm_guards(w);
}

/// How many more sets there is time and memory for: that share of the device's, or 4 GB. A set
/// costs its reference, and every candidate a launch.
std::size_t Problem::affordable_sets(double seconds, double share, std::size_t least) const {
  double bytes = 0;
  for (const PlacedWorkload& placed : placed_) bytes += placed.launch_bytes;
  std::size_t available = 0, total = 0;
  require(bench_.api(), bench_.api().cuMemGetInfo(&available, &total),
          "cannot tell how much memory is free");
  const double kept = std::max(4e9, static_cast<double>(available) * share);  // bytes of all sets
  const double of_all = reference_seconds_ / static_cast<double>(bench_.options().input_sets);
  const double most = std::min(seconds / std::max(of_all, 1e-9), kept / std::max(bytes, 1.0));
  return std::max(least, static_cast<std::size_t>(std::min(most, 1e6)));
}

const std::vector<std::unique_ptr<InputSet>>& Problem::family_sets(std::size_t w) {
  PlacedWorkload& placed = placed_[w];
  if (!placed.families.empty()) return placed.families;
  constexpr double kStressSeconds = 4, kStressMemory = 0.5;
  constexpr double kStructureSeconds = 2, kStructureMemory = 1.0 / 4;
  constexpr std::size_t kLeastStress = 12, kLeastStructures = 4;
  const auto add = [](std::vector<FamilyChoice>& to, const std::vector<FamilyChoice>& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  // What one workload leaves out the next one has.
  const std::uint64_t seed = setup_.seed + w;
  std::vector<FamilyChoice> choices, others;
  for (const FamilyChoice& choice : stress_choices(spec(), *placed.workload)) {
    // Its results are judged as far as the host has looked at them.
    if (choice.family == InputFamily::outlier && placed.launch_bytes > kMostDownloaded) continue;
    (has_own_gate(choice.family) ? choices : others).push_back(choice);
  }
  const std::size_t stress = affordable_sets(kStressSeconds, kStressMemory, kLeastStress);
  add(choices, spread(others, stress - std::min(stress, choices.size()), seed));
  add(choices,
      spread(structure_choices(spec(), *placed.workload),
             affordable_sets(kStructureSeconds, kStructureMemory, kLeastStructures), seed));
  std::vector<InputSet*> sets;
  for (const FamilyChoice& choice : choices) {
    placed.families.push_back(
        inputs_.make(placed, choice, setup_.seed + placed.families.size() + 1));
    sets.push_back(placed.families.back().get());
  }
  inputs_.make_references(placed, sets);
  const TrialRequest request{.candidate = setup_.baseline};
  Trial baseline(bench_, *this, request);
  const std::vector<double> declared = baseline.reference_scale(w, *placed.sets.front());
  const bool has_factors = has_integer_factors(spec(), *placed.workload);
  for (InputSet* const set : sets) {
    const std::vector<double> scale = baseline.reference_scale(w, *set);
    for (std::size_t t = 0; t < scale.size(); ++t) {
      const bool is_known = declared[t] > 0 && std::isfinite(scale[t] / declared[t]);
      const double ratio = is_known ? scale[t] / declared[t] : 1;
      set->result_sizes.push_back(
          {.ratio = ratio * tail_factor(set->family), .declared = has_factors ? declared[t] : 0});
    }
  }
  return placed.families;
}

const std::vector<std::unique_ptr<InputSet>>& Problem::perturbed_sets(std::size_t w) {
  PlacedWorkload& placed = placed_[w];
  if (std::exchange(placed.asked_for_perturbed, true)) return placed.perturbed;
  std::vector<std::size_t> eligible;
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (tensor.is_read() && tensor.elements > 1 &&
        draws_each_alone(spec().tensor_of(*tensor.arg, *placed.workload))) {
      eligible.push_back(t);
    }
  }
  constexpr int kProbes = 4;
  std::vector<InputSet*> sets;
  for (int probe = 0; probe < kProbes && !eligible.empty(); ++probe) {
    auto set = inputs_.with_one_changed(
        placed, eligible[static_cast<std::size_t>(probe) % eligible.size()], probe);
    if (!set) continue;
    sets.push_back(set.get());
    placed.perturbed.push_back(std::move(set));
  }
  inputs_.make_references(placed, sets);
  return placed.perturbed;
}

bool Problem::inputs_intact() {
  for (const PlacedWorkload& placed : placed_) {
    const auto all = [&](const auto& sets) {
      return std::all_of(sets.begin(), sets.end(),
                         [&](const auto& set) { return inputs_.intact(placed, *set); });
    };
    if (!all(placed.sets) || !all(placed.perturbed)) return false;
    for (const auto& set : placed.families) {
      if (!is_structure(set->family) && !inputs_.intact(placed, *set)) return false;
    }
  }
  return true;
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

}  // namespace warpath::cuda
