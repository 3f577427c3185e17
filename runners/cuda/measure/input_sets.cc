#include "runners/cuda/measure/input_sets.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/spec/tensor_init.h"
#include "runners/cuda/driver/transfer.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/column_indices.h"
#include "runners/inputs/input_choices.h"
#include "runners/inputs/other_scalars.h"
#include "runners/inputs/range_end.h"
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

}  // namespace

InputSets::InputSets(Bench& bench, const ProblemSetup& setup) : bench_(bench), setup_(setup) {
  for (const CandidateCode& code : setup_.reference_kernel().codes) {
    std::string why;
    auto kernel = load_kernel(bench_.api(), code.cubin, code.entry, why);
    if (!kernel) throw environment_error(setup_.spec.name + ": the reference kernel: " + why);
    reference_kernels_.push_back(std::move(*kernel));
  }
}

/// What contents that no rule draws element by element (row pointers, embedded data) are drawn by.
/// Those of timed sets are the spec's own whatever the run's seed is: how long the longest row is
/// decides the time of a sparse product, and runs could not be compared.
std::uint64_t InputSets::structure_seed(std::uint64_t seed) const {
  const auto sets = static_cast<std::uint64_t>(bench_.options().input_sets);
  return seed - setup_.seed < std::max<std::uint64_t>(1, sets - 1) ? 0 : seed;
}

/// Where such contents are there already: those of the same seed, and for other distributions,
/// which change values alone, those of the first set. They take the host seconds to make.
CUdeviceptr InputSets::structure_of(const PlacedWorkload& placed,
                                    std::size_t t,
                                    InputFamily family,
                                    std::uint64_t seed) const {
  if (placed.sets.empty() || (family == InputFamily::as_declared &&
                              structure_seed(placed.sets.front()->seed) != structure_seed(seed)))
    return 0;
  return placed.sets.front()->pristine[t].get();
}

std::unique_ptr<InputSet> InputSets::make(const PlacedWorkload& placed,
                                          const FamilyChoice& choice,
                                          std::uint64_t seed) {
  const InputFamily family = choice.family;
  const DriverApi& api = bench_.api();
  auto set = std::make_unique<InputSet>();
  set->seed = seed;
  set->family = family;
  set->form = choice.form;
  set->infinities = choice.infinities();
  if (is_structure(family) || choice.form > 0) set->form_label = choice.label();
  const auto rules = family_rules(setup_.spec, *placed.workload, choice, seed);
  const auto columns = columns_of_arranged_rows(setup_.spec, *placed.workload, choice, seed);
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
    if (const auto rule = element_rule(setup_.spec, *tensor.arg, *placed.workload, seed)) {
      bench_.harness().fill(bench_.stream(), data, tensor.elements, *rule);
    } else if (const auto own = columns.find(tensor.arg->name); own != columns.end()) {
      upload(api, own->second, data);
    } else if (const CUdeviceptr known =
                   structure_of(placed, set->pristine.size() - 1, family, seed)) {
      require(api, api.cuMemcpyDtoDAsync(data, known, tensor.size_bytes, bench_.stream()),
              "cannot copy inputs");
    } else {
      upload(api, materialize(setup_.spec, *tensor.arg, *placed.workload, structure_seed(seed)),
             data);
    }
    for (const auto& [arg, rule] : rules) {
      if (arg->name == tensor.arg->name) bench_.harness().family(bench_.stream(), data, rule);
    }
  }
  if (family == InputFamily::other_scalars) set->parameters = parameters_on(choice, placed);
  digest(placed, *set);
  return set;
}

/// The workload's parameters with the scalars of `choice`.
std::vector<ParameterPlace> InputSets::parameters_on(const FamilyChoice& choice,
                                                     const PlacedWorkload& placed) const {
  std::vector<ParameterPlace> out = placed.parameters;
  const auto arguments = kernel_arguments(setup_.spec);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const auto scalar = scalar_on(choice, setup_.spec, *arguments[i], *placed.workload))
      out[i].bytes = scalar_bytes(*scalar, arguments[i]->dtype);
  }
  return out;
}

void InputSets::digest(const PlacedWorkload& placed, InputSet& set) {
  Answers& answers = bench_.answers();
  answers.clear();
  const std::uint64_t nonce = bench_.secret();
  std::vector<std::size_t> places;
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    places.push_back(answers.place<DeviceDigest>());
    if (!placed.tensors[t].is_read()) continue;
    bench_.harness().digest(bench_.stream(), set.pristine[t].get(), placed.tensors[t].size_bytes,
                            kDigestSeed, nonce, answers.address(places[t]));
  }
  bench_.collect("inputs");
  // The place of a tensor that is not read holds what another answer left there.
  set.digest.assign(placed.tensors.size(), DeviceDigest{});
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    if (placed.tensors[t].is_read()) set.digest[t] = answers.at<DeviceDigest>(places[t]);
  }
}

void InputSets::run_reference_kernel(const PlacedWorkload& placed, InputSet& set) {
  const DriverApi& api = bench_.api();
  const Candidate& reference = setup_.reference_kernel();
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
  const LoadedKernel& kernel = reference_kernels_[reference.code_of[placed.index]];
  const LaunchNumbers& numbers = reference.numbers[placed.index];
  require(api, allow_dynamic_smem(api, kernel.function, numbers.dynamic_smem_bytes),
          "the reference kernel's shared memory is refused");
  bench_.launch(kernel, numbers, placed.structs, parameters, bench_.stream());
  constexpr double kReferenceSeconds = 60;
  bench_.synchronize("the reference kernel", kReferenceSeconds);
}

void InputSets::compute_reference(const PlacedWorkload& placed, InputSet& set) const {
  const DriverApi& api = bench_.api();
  TensorMap inputs;
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (tensor.is_read())
      inputs.emplace(tensor.arg->name, download(api, tensor, set.pristine[t].get()));
  }
  ScalarMap scalars = scalar_values(setup_.spec, *placed.workload);
  const FamilyChoice choice{.family = set.family, .form = set.form};
  for (const ArgSpec& arg : setup_.spec.io.args) {
    if (const auto scalar = scalar_on(choice, setup_.spec, arg, *placed.workload))
      scalars[arg.name] = *scalar;
  }
  const TensorMap expected = make_reference(setup_.spec, {.scratch_folder = "."})
                                 ->compute({setup_.spec, *placed.workload, inputs, scalars});
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    if (!placed.tensors[t].is_written()) continue;
    const Tensor& values = expected.at(placed.tensors[t].arg->name);
    MaskedReference& out = set.reference[t];
    out.dtype = values.dtype;
    out.memory = allocate(api, room_for(values.bytes.size()));
    upload(api, values, out.memory.get());
  }
}

void InputSets::run_reference(const PlacedWorkload& placed, const std::vector<InputSet*>& sets) {
  if (setup_.reference_is_kernel()) {
    try {
      for (InputSet* const set : sets) run_reference_kernel(placed, *set);
    } catch (const CandidateFault& fault) {
      throw environment_error(setup_.spec.name + ": the reference kernel: " + fault.detail);
    }
  } else {
    // Copies take as long as the sums do: every thread has a set of its own.
    tbb::parallel_for(std::size_t{0}, sets.size(), [&](std::size_t s) {
      bench_.device().make_current();
      compute_reference(placed, *sets[s]);
    });
  }
}

/// A reference before it is masked.
Tensor InputSets::reference_of(const PlacedWorkload& placed,
                               const InputSet& set,
                               std::size_t t) const {
  const MaskedReference& out = set.reference[t];
  TensorPlace place = placed.tensors[t];
  place.dtype = out.dtype;
  place.size_bytes = place.elements * info(out.dtype).size_bytes;
  return download(bench_.api(), place, out.memory.get());
}

/// Of a set of InputFamily::outlier the same without the large numbers, with its references.
std::unique_ptr<InputSet> InputSets::without_outliers(const PlacedWorkload& placed,
                                                      const InputSet& set) {
  if (set.family != InputFamily::outlier || placed.launch_bytes > kMostDownloaded) return nullptr;
  auto out = make(placed, FamilyChoice{.family = set.family}.near_one(), set.seed);
  run_reference(placed, {out.get()});
  return out;
}

void InputSets::make_references(const PlacedWorkload& placed, const std::vector<InputSet*>& sets) {
  run_reference(placed, sets);
  for (InputSet* const set : sets) {
    const std::unique_ptr<InputSet> without = without_outliers(placed, *set);
    for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
      if (!placed.tensors[t].is_written()) continue;
      const MaskedReference& out = set->reference[t];
      if (set->infinities == Infinities::in_lines && placed.launch_bytes <= kMostDownloaded) {
        Tensor expected = reference_of(placed, *set, t);
        if (without)
          leave_out_changed(expected, reference_of(placed, *without, t));
        else
          leave_out_undecided_lines(expected);
        upload(bench_.api(), expected, out.memory.get());
      }
      bench_.harness().mask(bench_.stream(), out.memory.get(),
                            placed.tensors[t].elements * info(out.dtype).size_bytes, out.key);
    }
  }
  bench_.synchronize("references");
}

std::unique_ptr<InputSet> InputSets::fresh(const PlacedWorkload& placed, std::uint64_t seed) {
  auto set = make(placed, {.family = InputFamily::as_declared}, seed);
  make_references(placed, {set.get()});
  return set;
}

std::unique_ptr<InputSet> InputSets::with_one_changed(const PlacedWorkload& placed,
                                                      std::size_t t,
                                                      int probe) {
  const TensorPlace& tensor = placed.tensors[t];
  const std::size_t width = info(tensor.dtype).size_bytes;
  const DriverApi& api = bench_.api();
  auto set = make(placed, {.family = InputFamily::as_declared}, setup_.seed);
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
  digest(placed, *set);
  return set;
}

std::unique_ptr<InputSet> InputSets::with_equal(const PlacedWorkload& placed,
                                                std::size_t from,
                                                std::size_t to) {
  auto set = make(placed, {.family = InputFamily::as_declared}, setup_.seed);
  require(bench_.api(),
          bench_.api().cuMemcpyDtoDAsync(set->pristine[to].get(), set->pristine[from].get(),
                                         placed.tensors[from].size_bytes, bench_.stream()),
          "cannot copy inputs");
  digest(placed, *set);
  make_references(placed, {set.get()});
  return set;
}

std::unique_ptr<InputSet> InputSets::missing(const PlacedWorkload& placed) {
  auto set = make(placed, {.family = InputFamily::as_declared}, setup_.seed);
  for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
    const TensorPlace& tensor = placed.tensors[t];
    if (!tensor.is_read() || !info(tensor.dtype).is_float) continue;
    FamilyRule rule = family_rule(setup_.spec, *tensor.arg, *placed.workload,
                                  InputFamily::not_a_number, setup_.seed);
    rule.form = 1;
    bench_.harness().family(bench_.stream(), set->pristine[t].get(), rule);
  }
  digest(placed, *set);
  return set;
}

std::unique_ptr<InputSet> InputSets::scaled(const PlacedWorkload& placed, std::size_t t) {
  const TensorPlace& tensor = placed.tensors[t];
  auto set = make(placed, {.family = InputFamily::as_declared}, setup_.seed);
  bench_.harness().family(
      bench_.stream(), set->pristine[t].get(),
      family_rule(setup_.spec, *tensor.arg, *placed.workload, InputFamily::huge, setup_.seed));
  digest(placed, *set);
  return set;
}

bool InputSets::intact(const PlacedWorkload& placed, InputSet& set) {
  const auto before = set.digest;
  digest(placed, set);
  return std::equal(before.begin(), before.end(), set.digest.begin(),
                    [](const DeviceDigest& a, const DeviceDigest& b) {
                      return a.low == b.low && a.high == b.high;
                    });
}

}  // namespace warpath::cuda
