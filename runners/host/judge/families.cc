#include "runners/host/judge/families.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/spec/compare.h"
#include "runners/host/options.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/column_indices.h"
#include "runners/inputs/input_choices.h"
#include "runners/inputs/other_scalars.h"
#include "runners/inputs/range_end.h"
#include "runners/inputs/reach.h"

namespace warpath::host {
namespace {

double root_mean_square(const Tensor& tensor) {
  double squares = 0, count = 0;
  for (std::int64_t i = 0, n = tensor.elements(); i < n; ++i) {
    const double x = tensor.at(i);
    if (!std::isfinite(x)) continue;
    squares += x * x;
    count += 1;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

/// `inputs` with every value of a type that arithmetic rounds to changed in its last place.
InputSet nudged(const InputSet& inputs, std::uint64_t seed) {
  InputSet out = inputs;
  std::uint64_t number = 0;
  for (auto& [name, values] : out.tensors) {
    ++number;
    if (nudge_share(values.dtype) == 1) nudge(values, seed == 0 ? 0 : seed + number);
  }
  return out;
}

}  // namespace

std::vector<SharedBuffer> shared_buffers(const KernelSpec& spec, const Workload& workload) {
  const auto arguments = kernel_arguments(spec);
  std::vector<SharedBuffer> out;
  if (!no_other_inputs(spec).empty()) return out;
  for (const auto& group : spec.io.may_alias) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t k = i + 1; k < group.size(); ++k) {
        const auto find = [&](const std::string& name) {
          return std::ranges::find(arguments, name, [](const ArgSpec* arg) { return arg->name; });
        };
        auto a = find(group[i]), b = find(group[k]);
        if (a == arguments.end() || b == arguments.end()) continue;
        if ((*a)->role != ArgRole::input) std::swap(a, b);
        // two results in one place: which one remains is unspecified
        if ((*a)->role != ArgRole::input) continue;
        const bool same = (*a)->tensor->dtype == (*b)->tensor->dtype &&
                          spec.shape_of(**a, workload) == spec.shape_of(**b, workload);
        if ((*b)->role != ArgRole::output && !same) continue;
        out.push_back({static_cast<std::uint32_t>(a - arguments.begin()),
                       static_cast<std::uint32_t>(b - arguments.begin())});
      }
    }
  }
  return out;
}

Placement placement_on(const FamilyChoice& choice) {
  const PlacesAt places = places_at(choice.family, choice.form);
  if (places == PlacesAt::anywhere) return Placement::canaries;
  // One value but for one element: two sets of each, one for either end.
  const bool is_other = choice.family == InputFamily::one_value && choice.but_for_one;
  return (places == PlacesAt::begin) != is_other ? Placement::fence_before : Placement::fence;
}

Families::Families(const KernelSpec& spec,
                   Oracle& oracle,
                   Baseline& baseline,
                   const HostOptions& options,
                   const std::string& program)
    : spec_(spec),
      oracle_(oracle),
      baseline_(baseline),
      options_(options),
      worker_(program, options) {}

std::vector<FamilyChoice> Families::choices(const KernelSpec& spec,
                                            const Workload& workload,
                                            bool screening,
                                            std::uint64_t seed,
                                            std::uint64_t workload_bytes) {
  const std::vector<FamilyChoice> structures = structure_choices(spec, workload),
                                  stresses = stress_choices(spec, workload);
  std::vector<FamilyChoice> all;  // in turn: there may be time for the first alone
  for (std::size_t i = 0; i < std::max(structures.size(), stresses.size()); ++i) {
    if (i < structures.size()) all.push_back(structures[i]);
    if (i < stresses.size()) all.push_back(stresses[i]);
  }
  // total of all sets of a workload, approximately
  constexpr std::uint64_t kKeptBytes = std::uint64_t{256} << 20U;
  const std::uint64_t affordable =
      std::max<std::uint64_t>(kKeptBytes / std::max<std::uint64_t>(workload_bytes, 1), 4);
  all = spread(all, static_cast<std::size_t>(affordable), 0);
  if (!screening) return all;
  constexpr std::size_t kAtScreening = 2;
  std::vector<FamilyChoice> some;
  for (std::size_t i = 0; i < std::min(kAtScreening, all.size()); ++i)
    some.push_back(all[(kAtScreening * seed + i) % all.size()]);
  return some;
}

TensorMap Families::run_baseline(const Workload& workload,
                                 const InputSet& inputs,
                                 const std::optional<SharedBuffer>& shared) {
  const Variant& variant = baseline_.variant();
  const std::string object = baseline_.object(variant, workload);
  const WorkerClient::Limit limit(options_.launch_seconds + 1);
  TensorMap out;
  if (object.empty()) return out;
  const auto loaded = worker_.load(object, 0, limit, {});
  if (loaded.loss || !loaded.reply.problem.empty() ||
      worker_.bind(bound_arguments(spec_, workload, inputs), limit, {}, struct_parameters(spec_)))
    return out;
  LaunchCommand command;
  command.numbers =
      evaluate(launch_for(spec_, variant, workload), spec_.bindings(workload, variant.tunables),
               "launch of workload " + workload.name);
  command.seed = inputs.seed;
  if (shared) command.shared = {shared->first, shared->second};
  const auto answer = worker_.launch(command, limit, {});
  if (answer.loss || answer.reply.end != BlockEnd::done) return out;
  const auto outputs = output_arguments(spec_);
  for (std::size_t i = 0; i < outputs.size() && i < answer.reply.outputs.size(); ++i) {
    Tensor got{outputs[i]->tensor->dtype, spec_.shape_of(*outputs[i], workload),
               answer.reply.outputs[i]};
    if (got.bytes.size() != static_cast<std::size_t>(got.elements()) * info(got.dtype).size_bytes)
      return {};
    out.emplace(outputs[i]->name, std::move(got));
  }
  return out.size() == outputs.size() ? out : TensorMap{};
}

bool Families::judge_baseline(const Workload& workload,
                              InputSet& inputs,
                              InputFamily family,
                              const std::optional<SharedBuffer>& shared) {
  const TensorMap found = run_baseline(workload, inputs, shared);
  if (found.empty()) return false;
  const auto declared = oracle_.kept_inputs(workload, 0);
  const bool has_factors = has_integer_factors(spec_, workload);
  std::map<std::string, Allowance> allowances;
  bool keeps_class = true;
  const auto under = [&](const std::string& name, const Tensor& values) {
    return compare_under(values, inputs.expected.at(name), inputs.infinities);
  };
  const auto take_in = [&](const TensorMap& outputs) {
    bool told = true;
    for (const auto& [name, values] : outputs) {
      Allowance& allowed = allowances.at(name);
      const CompareUnder compared = under(name, values);
      const Comparison comparison = compared(allowed.tolerance);
      extend(allowed.reach.baseline, comparison, allowed.tolerance, compared);
      told = told && (shared ? comparison.passed : classes_agree(comparison));
      if (info(values.dtype).is_float && !allowed.tolerance.exact)
        keeps_class = keeps_class && classes_agree(comparison);
    }
    return told;
  };
  for (const auto& [name, values] : found) {
    if (shared) {
      allowances.emplace(name, Allowance{.tolerance = spec_.tolerance_of(name)});
      continue;
    }
    const double own = root_mean_square(declared->expected.at(name));
    double ratio = root_mean_square(inputs.expected.at(name)) / std::max(own, 1e-300);
    if (!std::isfinite(ratio)) ratio = 1;
    const ResultSize size{.ratio = ratio * tail_factor(family), .declared = has_factors ? own : 0};
    allowances.emplace(
        name, Allowance{.tolerance = scaled(tolerance_on(family, spec_, name), family, size),
                        .reach = Reach{.factor = reach_factor(spec_, workload)}});
  }
  if (!take_in(found)) return false;
  constexpr std::uint64_t kNudges = 2;  // upwards, and at random
  for (std::uint64_t seed = 0; seed < kNudges && !shared; ++seed)
    take_in(run_baseline(workload, nudged(inputs, seed), shared));
  for (const Rounding rounding : {Rounding::upward, Rounding::downward}) {
    if (shared) break;
    for (const auto& [name, values] : oracle_.rounded(workload, inputs, rounding)) {
      Allowance& allowed = allowances.at(name);
      const CompareUnder compared = under(name, values);
      extend(allowed.reach.reference, compared(allowed.tolerance), allowed.tolerance, compared);
    }
  }
  // What a last place of the inputs makes infinite or not, no other kernel can be held to.
  if (!keeps_class) return false;
  inputs.allowances = std::move(allowances);
  return true;
}

bool Families::is_right(const Workload& workload,
                        InputSet& inputs,
                        InputFamily family,
                        const std::optional<SharedBuffer>& shared) {
  try {
    oracle_.expect(workload, inputs);
    if (family == InputFamily::outlier) {
      InputSet without = make(workload, FamilyChoice{.family = family}.near_one(), inputs.seed);
      oracle_.expect(workload, without);
      for (auto& [name, values] : inputs.expected)
        leave_out_changed(values, without.expected.at(name));
    } else if (inputs.infinities == Infinities::in_lines) {
      for (auto& [name, values] : inputs.expected) leave_out_undecided_lines(values);
    }
    return judge_baseline(workload, inputs, family, shared);
  } catch (const Error&) {  // a reference that cannot compute these proves nothing about a kernel
    return false;
  }
}

InputSet Families::make(const Workload& workload, const FamilyChoice& choice, std::uint64_t seed) {
  InputSet out = make_inputs(spec_, workload, seed);
  for (const ArgSpec& arg : spec_.io.args) {
    if (const auto scalar = scalar_on(choice, spec_, arg, workload))
      out.scalars[arg.name] = *scalar;
  }
  for (const auto& [arg, rule] : family_rules(spec_, workload, choice, seed))
    apply_family(out.tensors.at(arg->name), rule);
  for (auto& [name, columns] : columns_of_arranged_rows(spec_, workload, choice, seed))
    out.tensors.at(name) = std::move(columns);
  return out;
}

std::set<std::string> Families::out_of_range(const Workload& workload,
                                             const InputSet& inputs,
                                             const FamilyChoice& choice) {
  const auto values = [](const TensorMap& tensors) {
    std::vector<Tensor> out;
    for (const auto& [name, tensor] : tensors) out.push_back(tensor);
    return out;
  };
  const InputSet near_one = make(workload, choice.near_one(), inputs.seed);
  const TensorMap results = run_baseline(workload, inputs, std::nullopt);
  const std::vector<bool> stays =
      stay_in_range(choice.family, values(inputs.tensors), values(results),
                    values(run_baseline(workload, near_one, std::nullopt)));
  std::set<std::string> out;
  for (const auto& [name, tensor] : inputs.expected) out.insert(name);
  std::size_t i = 0;
  for (const auto& [name, tensor] : results) {
    if (stays[i++]) out.erase(name);
  }
  return out;
}

const std::set<std::string>& Families::numbers_of_nan(const Workload& workload) {
  const auto [it, is_new] = numbers_of_nan_.try_emplace(workload.name);
  if (!is_new) return it->second;
  const InputSet declared = make_inputs(spec_, workload, 0);
  InputSet missing = declared;
  for (auto& [name, tensor] : missing.tensors) {
    for (std::int64_t i = 0; info(tensor.dtype).is_float && i < tensor.elements(); ++i)
      tensor.set(i, NAN);
  }
  const TensorMap usual = run_baseline(workload, declared, std::nullopt);
  for (const auto& [name, result] : run_baseline(workload, missing, std::nullopt)) {
    const auto own = usual.find(name);
    if (own == usual.end() || makes_numbers_of_nan(result, own->second)) it->second.insert(name);
  }
  return it->second;
}

std::shared_ptr<const InputSet> Families::of_family(const Workload& workload,
                                                    const FamilyChoice& choice) {
  const std::lock_guard lock(mutex_);
  const std::pair key{workload.name, choice};
  if (const auto it = families_.find(key); it != families_.end()) return it->second;
  // a stream for each choice, by its name, so that their random places differ
  std::uint64_t seed = 20;
  for (const char c : choice.label()) seed = portable::mix(seed ^ static_cast<unsigned char>(c));
  auto set = std::make_shared<InputSet>(make(workload, choice, seed));
  set->family = choice.label();
  set->infinities = choice.infinities();
  const bool is_right_on_it = is_right(workload, *set, choice.family, std::nullopt);
  if (is_right_on_it && is_near_range_end(choice.family))
    set->unjudged = out_of_range(workload, *set, choice);
  if (is_right_on_it && may_multiply(set->infinities, spec_))
    set->unjudged = numbers_of_nan(workload);
  if (!is_right_on_it || set->unjudged.size() == set->expected.size()) set = nullptr;
  return families_.emplace(key, std::move(set)).first->second;
}

std::shared_ptr<const InputSet> Families::of_shared(const Workload& workload,
                                                    const SharedBuffer& shared) {
  const std::lock_guard lock(mutex_);
  const std::pair key{workload.name, shared};
  if (const auto it = shared_.find(key); it != shared_.end()) return it->second;
  const auto arguments = kernel_arguments(spec_);
  const ArgSpec &first = *arguments[shared.first], &second = *arguments[shared.second];
  auto set = std::make_shared<InputSet>(make_inputs(spec_, workload, 0));
  if (second.role != ArgRole::output) set->tensors.at(second.name) = set->tensors.at(first.name);
  set->family = first.name + " and " + second.name + " in one buffer";
  if (!is_right(workload, *set, InputFamily::as_declared, shared)) set = nullptr;
  return shared_.emplace(key, std::move(set)).first->second;
}

}  // namespace warpath::host
