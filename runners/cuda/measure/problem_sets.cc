#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/spec/tensor_init.h"
#include "runners/cuda/driver/transfer.h"
#include "runners/cuda/measure/problem.h"
#include "runners/cuda/measure/trial.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/input_choices.h"
#include "runners/inputs/other_scalars.h"
#include "runners/reference/reference.h"

namespace warpath::cuda {
namespace {

void upload(const DriverApi& api, const Tensor& tensor, CUdeviceptr to) {
  if (tensor.bytes.empty()) return;
  copy_to_device(api, to, tensor.bytes.data(), tensor.bytes.size(), "cannot write inputs");
}

/// Room that copies and 16-byte accesses may use as a whole.
std::size_t room_for(std::size_t bytes) {
  return std::max<std::size_t>((bytes + 255) / 256 * 256, 256);
}

/// Families that gates other than `distributions` look at are never left out.
bool has_own_gate(InputFamily family) {
  return needs_whole_mantissa(family) || family == InputFamily::small_integers;
}

}  // namespace

Tensor download(const DriverApi& api, const TensorPlace& place, CUdeviceptr from) {
  Tensor tensor = make_tensor(place.dtype, place.shape);
  if (place.size_bytes > 0) {
    require(api, api.cuMemcpyDtoH(tensor.bytes.data(), from, place.size_bytes),
            "cannot read inputs");
  }
  return tensor;
}

/// What contents that no rule draws element by element (row pointers, embedded data) are drawn by.
/// Those of timed sets are the spec's own whatever the run's seed is: how long the longest row is
/// decides the time of a sparse product, and runs could not be compared.
std::uint64_t Problem::structure_seed(std::uint64_t seed) const {
  const auto sets = static_cast<std::uint64_t>(bench_.options().input_sets);
  return seed - setup_.seed < std::max<std::uint64_t>(1, sets - 1) ? 0 : seed;
}

/// Where such contents are there already: those of the same seed, and for other distributions,
/// which change values alone, those of the first set. They take the host seconds to make.
CUdeviceptr Problem::structure_of(std::size_t w,
                                  std::size_t t,
                                  InputFamily family,
                                  std::uint64_t seed) const {
  const PlacedWorkload& placed = placed_[w];
  if (placed.sets.empty() || (family == InputFamily::as_declared &&
                              structure_seed(placed.sets.front()->seed) != structure_seed(seed)))
    return 0;
  return placed.sets.front()->pristine[t].get();
}

std::unique_ptr<InputSet> Problem::make_inputs(std::size_t w,
                                               InputFamily family,
                                               std::uint64_t seed) {
  return make_inputs(w, FamilyChoice{.family = family}, seed);
}

std::unique_ptr<InputSet> Problem::make_inputs(std::size_t w,
                                               const FamilyChoice& choice,
                                               std::uint64_t seed) {
  const InputFamily family = choice.family;
  std::size_t changed = 0;
  const DriverApi& api = bench_.api();
  const PlacedWorkload& placed = placed_[w];
  auto set = std::make_unique<InputSet>();
  set->seed = seed;
  set->family = family;
  set->form = choice.form;
  set->infinities = choice.infinities();
  if (is_structure(family) || choice.form > 0) set->form_label = choice.label();
  for (const TensorPlace& tensor : placed.tensors) {
    set->pristine.emplace_back();
    set->reference.emplace_back();
    if (tensor.is_written()) {
      MaskedReference& reference = set->reference.back();
      reference.key = {bench_.secret(), bench_.secret()};
    }
    if (!tensor.is_read()) continue;
    set->pristine.back() = allocate(api, room_for(tensor.size_bytes));
    const CUdeviceptr data = set->pristine.back().get();
    if (const auto rule = element_rule(spec(), *tensor.arg, *placed.workload, seed)) {
      bench_.harness().fill(bench_.stream(), data, tensor.elements, *rule);
    } else if (const CUdeviceptr known = structure_of(w, set->pristine.size() - 1, family, seed)) {
      require(api, api.cuMemcpyDtoDAsync(data, known, tensor.size_bytes, bench_.stream()),
              "cannot copy inputs");
    } else {
      upload(api, materialize(spec(), *tensor.arg, *placed.workload, structure_seed(seed)), data);
    }
    if (changes(family, spec(), *tensor.arg, *placed.workload)) {
      bench_.harness().family(
          bench_.stream(), data,
          family_rule(spec(), *tensor.arg, *placed.workload, choice, changed++, seed));
    }
  }
  if (family == InputFamily::other_scalars) set->parameters = parameters_on(choice, placed);
  digest_inputs(w, *set);
  return set;
}

/// The workload's parameters with the scalars of `choice`.
std::vector<ParameterPlace> Problem::parameters_on(const FamilyChoice& choice,
                                                   const PlacedWorkload& placed) const {
  std::vector<ParameterPlace> out = placed.parameters;
  const auto arguments = kernel_arguments(spec());
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const auto scalar = scalar_on(choice, spec(), *arguments[i], *placed.workload))
      out[i].bytes = scalar_bytes(*scalar, arguments[i]->dtype);
  }
  return out;
}

void Problem::digest_inputs(std::size_t w, InputSet& set) {
  Answers& answers = bench_.answers();
  answers.clear();
  const std::uint64_t nonce = bench_.secret();
  std::vector<std::size_t> places;
  const PlacedWorkload& placed = placed_[w];
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    places.push_back(answers.place<DeviceDigest>());
    if (!placed.tensors[t].is_read()) continue;
    bench_.harness().digest(bench_.stream(), set.pristine[t].get(), placed.tensors[t].size_bytes,
                            kDigestSeed, nonce, answers.address(places[t]));
  }
  bench_.collect("inputs");
  set.digest.clear();
  for (const std::size_t place : places) set.digest.push_back(answers.at<DeviceDigest>(place));
}

void Problem::run_reference_kernel(std::size_t w, InputSet& set) {
  const DriverApi& api = bench_.api();
  const PlacedWorkload& placed = placed_[w];
  const Candidate& reference = reference_kernel();
  std::vector<CUdeviceptr> addresses;
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (!tensor.is_written()) {
      addresses.push_back(set.pristine[t].get());
      continue;
    }
    MaskedReference& out = set.reference[t];
    out.memory = allocate(api, room_for(tensor.size_bytes));
    out.dtype = tensor.dtype;
    addresses.push_back(out.memory.get());
    if (tensor.is_read()) {
      require(api,
              api.cuMemcpyDtoDAsync(out.memory.get(), set.pristine[t].get(), tensor.size_bytes,
                                    bench_.stream()),
              "cannot copy inputs");
    } else if (tensor.elements > 0) {
      bench_.harness().poison(bench_.stream(), out.memory.get(), tensor.elements, tensor.dtype, 0);
    }
  }
  std::vector<void*> parameters;
  for (const ParameterPlace& parameter :
       set.parameters.empty() ? placed.parameters : set.parameters) {
    parameters.push_back(parameter.bytes.empty() ? static_cast<void*>(&addresses[parameter.tensor])
                                                 : const_cast<std::byte*>(parameter.bytes.data()));
  }
  const LoadedKernel& kernel = reference_kernels_[reference.code_of[w]];
  const LaunchNumbers& numbers = reference.numbers[w];
  require(api, allow_dynamic_smem(api, kernel.function, numbers.dynamic_smem_bytes),
          "the reference kernel's shared memory is refused");
  bench_.launch(kernel, numbers, placed.structs, parameters, bench_.stream());
  constexpr double kReferenceSeconds = 60;
  bench_.synchronize("the reference kernel", kReferenceSeconds);
}

void Problem::compute_reference(std::size_t w, InputSet& set) const {
  const DriverApi& api = bench_.api();
  const PlacedWorkload& placed = placed_[w];
  TensorMap inputs;
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (tensor.is_read())
      inputs.emplace(tensor.arg->name, download(api, tensor, set.pristine[t].get()));
  }
  ScalarMap scalars = scalar_values(spec(), *placed.workload);
  const FamilyChoice choice{.family = set.family, .form = set.form};
  for (const ArgSpec& arg : spec().io.args) {
    if (const auto scalar = scalar_on(choice, spec(), arg, *placed.workload))
      scalars[arg.name] = *scalar;
  }
  const TensorMap expected = make_reference(spec(), {.scratch_folder = "."})
                                 ->compute({spec(), *placed.workload, inputs, scalars});
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    if (!placed.tensors[t].is_written()) continue;
    const Tensor& values = expected.at(placed.tensors[t].arg->name);
    MaskedReference& out = set.reference[t];
    out.dtype = values.dtype;
    out.memory = allocate(api, room_for(values.bytes.size()));
    upload(api, values, out.memory.get());
  }
}

void Problem::make_references(std::size_t w, const std::vector<InputSet*>& sets) {
  const PlacedWorkload& placed = placed_[w];
  if (reference_is_kernel()) {
    try {
      for (InputSet* const set : sets) run_reference_kernel(w, *set);
    } catch (const CandidateFault& fault) {
      throw environment_error(spec().name + ": the reference kernel: " + fault.detail);
    }
  } else {
    // Copies take as long as the sums do: every thread has a set of its own.
    tbb::parallel_for(std::size_t{0}, sets.size(), [&](std::size_t s) {
      bench_.device().make_current();
      compute_reference(w, *sets[s]);
    });
  }
  for (InputSet* const set : sets) {
    for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
      if (!placed.tensors[t].is_written()) continue;
      const MaskedReference& out = set->reference[t];
      bench_.harness().mask(bench_.stream(), out.memory.get(),
                            placed.tensors[t].elements * info(out.dtype).size_bytes, out.key);
    }
  }
  bench_.synchronize("references");
}

std::unique_ptr<InputSet> Problem::fresh_set(std::size_t w, std::uint64_t seed) {
  auto set = make_inputs(w, InputFamily::as_declared, seed);
  make_references(w, {set.get()});
  return set;
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
  for (const FamilyChoice& choice : stress_choices(spec(), *placed.workload))
    (has_own_gate(choice.family) ? choices : others).push_back(choice);
  const std::size_t stress = affordable_sets(kStressSeconds, kStressMemory, kLeastStress);
  add(choices, spread(others, stress - std::min(stress, choices.size()), seed));
  add(choices,
      spread(structure_choices(spec(), *placed.workload),
             affordable_sets(kStructureSeconds, kStructureMemory, kLeastStructures), seed));
  std::vector<InputSet*> sets;
  for (const FamilyChoice& choice : choices) {
    placed.families.push_back(make_inputs(w, choice, setup_.seed + placed.families.size() + 1));
    sets.push_back(placed.families.back().get());
  }
  make_references(w, sets);
  const TrialRequest request{.candidate = setup_.baseline};
  Trial baseline(bench_, *this, request);
  const std::vector<double> declared = baseline.reference_scale(w, *placed.sets.front());
  for (InputSet* const set : sets) {
    std::vector<double> scale = baseline.reference_scale(w, *set);
    for (std::size_t t = 0; t < scale.size(); ++t) {
      scale[t] =
          declared[t] > 0 && std::isfinite(scale[t] / declared[t]) ? scale[t] / declared[t] : 1;
      scale[t] *= tail_factor(set->family);
    }
    set->result_scale = std::move(scale);
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
    auto set =
        perturbed_inputs(w, eligible[static_cast<std::size_t>(probe) % eligible.size()], probe);
    if (!set) continue;
    sets.push_back(set.get());
    placed.perturbed.push_back(std::move(set));
  }
  make_references(w, sets);
  return placed.perturbed;
}

std::unique_ptr<InputSet> Problem::perturbed_inputs(std::size_t w, std::size_t t, int probe) {
  const TensorPlace& tensor = placed_[w].tensors[t];
  const std::size_t width = info(tensor.dtype).size_bytes;
  const DriverApi& api = bench_.api();
  auto set = make_inputs(w, InputFamily::as_declared, setup_.seed);
  const CUdeviceptr data = set->pristine[t].get();
  Rng rng(bench_.secret(), "perturb");
  std::uint64_t changed = rng.below(tensor.elements);
  if (probe == 1) changed = 0;
  if (probe == 2) changed = tensor.elements - 1;
  std::array<std::byte, 16> before{};
  require(api, api.cuMemcpyDtoH(before.data(), data + changed * width, width),
          "cannot read inputs");
  auto after = before;
  constexpr int kTries = 64;
  for (int i = 0; i < kTries && before == after; ++i) {  // another element's value is a legal one
    const std::uint64_t other = rng.below(tensor.elements);
    require(api, api.cuMemcpyDtoH(after.data(), data + other * width, width), "cannot read inputs");
  }
  if (before == after) return nullptr;
  copy_to_device(api, data + changed * width, after.data(), width, "cannot write inputs");
  set->changed_element = static_cast<std::int64_t>(changed);
  digest_inputs(w, *set);
  return set;
}

std::unique_ptr<InputSet> Problem::set_with_equal(std::size_t w, std::size_t from, std::size_t to) {
  auto set = make_inputs(w, InputFamily::as_declared, setup_.seed);
  require(bench_.api(),
          bench_.api().cuMemcpyDtoDAsync(set->pristine[to].get(), set->pristine[from].get(),
                                         placed_[w].tensors[from].size_bytes, bench_.stream()),
          "cannot copy inputs");
  digest_inputs(w, *set);
  make_references(w, {set.get()});
  return set;
}

std::unique_ptr<InputSet> Problem::scaled_set(std::size_t w, std::size_t t) {
  const TensorPlace& tensor = placed_[w].tensors[t];
  auto set = make_inputs(w, InputFamily::as_declared, setup_.seed);
  bench_.harness().family(
      bench_.stream(), set->pristine[t].get(),
      family_rule(spec(), *tensor.arg, *placed_[w].workload, InputFamily::huge, setup_.seed));
  digest_inputs(w, *set);
  return set;
}

bool Problem::intact(std::size_t w, InputSet& set) {
  const auto before = set.digest;
  digest_inputs(w, set);
  return std::equal(before.begin(), before.end(), set.digest.begin(),
                    [](const DeviceDigest& a, const DeviceDigest& b) {
                      return a.low == b.low && a.high == b.high;
                    });
}

bool Problem::inputs_intact() {
  for (std::size_t w = 0; w < placed_.size(); ++w) {
    const PlacedWorkload& placed = placed_[w];
    const auto all = [&](const auto& sets) {
      return std::all_of(sets.begin(), sets.end(),
                         [&](const auto& set) { return intact(w, *set); });
    };
    if (!all(placed.sets) || !all(placed.perturbed)) return false;
    for (const auto& set : placed.families) {
      if (!is_structure(set->family) && !intact(w, *set)) return false;
    }
  }
  return true;
}

}  // namespace warpath::cuda
