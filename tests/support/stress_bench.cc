#include "tests/support/stress_bench.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/spec/compare.h"
#include "runners/host/options.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/other_scalars.h"
#include "runners/inputs/range_end.h"
#include "runners/reference/reference.h"

using namespace warpath;

namespace {

const host::WorkerClient::Limit kLimit(60);

HostOptions options() {
  HostOptions out;
  out.threads = 2;
  out.optimization = "-O1 -march=native";
  return out;
}

double root_mean_square(const Tensor& values) {
  double squares = 0;
  std::int64_t finite = 0;
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    if (!std::isfinite(values.at(i))) continue;
    squares += values.at(i) * values.at(i);
    ++finite;
  }
  return finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
}

std::vector<Tensor> values_of(const TensorMap& tensors) {
  std::vector<Tensor> out;
  for (const auto& [name, tensor] : tensors) out.push_back(tensor);
  return out;
}

}  // namespace

StressBench::StressBench(const KernelSpec& spec, std::size_t structures, std::uint64_t first)
    : spec_(spec),
      compiler_(options()),
      worker_("/proc/self/exe", options()),
      baseline_(baseline_variant(spec)),
      reference_(baseline_) {
  const auto it = std::ranges::find_if(
      spec_.workloads, [](const Workload& w) { return w.target == WorkloadTarget::host; });
  if (it == spec_.workloads.end()) throw bad_input(spec.origin, "", "a workload for the host");
  workload_ = &*it;
  std::string why;
  baseline_object_ = object(baseline_, why);
  if (const auto* const kernel = std::get_if<ReferenceKernel>(&spec_.reference)) {
    reference_.source = kernel->source;
    reference_.kernel_name = kernel->kernel_name;
    reference_.launch = kernel->launch;
    reference_object_ = object(reference_, why);
  }
  if (!why.empty()) throw bad_input(spec.origin, "", "kernels that compile: " + why);
  add_family({});
  for (const FamilyChoice& choice : stress_choices(spec_, *workload_)) add_family(choice);
  for (const FamilyChoice& choice : spread(structure_choices(spec_, *workload_), structures, first))
    add_family(choice);
}

std::string StressBench::object(const Variant& variant, std::string& why) {
  const host::Macros macros =
      host::macros_for(spec_, *workload_, variant.tunables, variant.compiler_options);
  const host::Compiled compiled =
      compiler_.compile({variant.source, {variant.kernel_name}, macros.text, macros.integers});
  if (compiled.status != Status::ok) why = compiled.log;
  return compiled.object_path;
}

TensorMap StressBench::run(const std::string& object,
                           const LaunchPlan& plan,
                           const Variant& variant,
                           const host::InputSet& inputs,
                           std::string& why,
                           host::Rounding rounding) {
  TensorMap out;
  const auto loaded = worker_.load(object, 0, kLimit, {});
  if (loaded.loss || worker_.bind(host::bound_arguments(spec_, *workload_, inputs), kLimit, {},
                                  host::struct_parameters(spec_))) {
    why = "it cannot be loaded";
    return out;
  }
  host::LaunchCommand command;
  command.numbers = evaluate(plan, spec_.bindings(*workload_, variant.tunables), "launch");
  command.seed = 5;
  command.rounding = rounding;
  const auto answer = worker_.launch(command, kLimit, {});
  if (answer.loss || answer.reply.end != host::BlockEnd::done) {
    why = answer.loss ? "it crashed" : answer.reply.detail;
    return out;
  }
  const auto outputs = output_arguments(spec_);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    out.emplace(outputs[i]->name,
                Tensor{outputs[i]->tensor->dtype, spec_.shape_of(*outputs[i], *workload_),
                       answer.reply.outputs[i]});
  }
  return out;
}

TensorMap StressBench::expected(const host::InputSet& inputs) {
  if (const auto source = make_reference(spec_, {compiler_.scratch().string()})) {
    return source->compute({spec_, *workload_, inputs.tensors, inputs.scalars});
  }
  std::string why;
  TensorMap out = run(reference_object_, reference_.launch, reference_, inputs, why);
  if (!why.empty()) throw bad_input(spec_.origin, "", "a reference that runs: " + why);
  return out;
}

void StressBench::apply(const FamilyChoice& choice,
                        host::InputSet& inputs,
                        std::uint64_t seed) const {
  std::size_t changed = 0;
  for (const ArgSpec& arg : spec_.io.args) {
    if (const auto scalar = scalar_on(choice, spec_, arg, *workload_))
      inputs.scalars[arg.name] = *scalar;
    const auto tensor = inputs.tensors.find(arg.name);
    if (tensor == inputs.tensors.end() || !changes(choice.family, spec_, arg, *workload_)) continue;
    apply_family(tensor->second, family_rule(spec_, arg, *workload_, choice, changed++, seed));
  }
}

void StressBench::add_family(const FamilyChoice& choice) {
  const std::uint64_t seed = 77 + families_.size();
  Family family{.name = choice.label(),
                .inputs = host::make_inputs(spec_, *workload_, seed),
                .tolerance = {},
                .is_declared = choice.family == InputFamily::as_declared,
                .infinities = choice.infinities(),
                .reach = std::nullopt};
  apply(choice, family.inputs, seed);
  family.inputs.expected = expected(family.inputs);
  if (choice.family == InputFamily::outlier) {
    host::InputSet without = host::make_inputs(spec_, *workload_, seed);
    apply(choice.near_one(), without, seed);
    const TensorMap other = expected(without);
    for (auto& [name, values] : family.inputs.expected) leave_out_changed(values, other.at(name));
  }
  for (const auto& [name, values] : family.inputs.expected) {
    Tolerance own = tolerance_on(choice.family, spec_, name);
    if (!family.is_declared) {
      const double declared = root_mean_square(families_.front().inputs.expected.at(name)),
                   ratio = root_mean_square(values) / declared;
      own = scaled(own, choice.family,
                   {.ratio = (std::isfinite(ratio) ? ratio : 1) * tail_factor(choice.family),
                    .declared = has_integer_factors(spec_, *workload_) ? declared : 0});
    }
    family.tolerance.emplace(name, own);
  }
  std::string why;
  const TensorMap outputs = run(baseline_object_, launch_for(spec_, baseline_, *workload_),
                                baseline_, family.inputs, why);
  if (outputs.empty()) throw bad_input(spec_.origin, "", "a baseline that runs: " + why);
  for (const auto& [name, values] : outputs) {
    if (!classes_agree(compare(values, family.inputs.expected.at(name), family.tolerance.at(name),
                               family.infinities)))
      return;
  }
  if (is_near_range_end(choice.family)) {
    host::InputSet near_one = host::make_inputs(spec_, *workload_, seed);
    apply(choice.near_one(), near_one, seed);
    const TensorMap other =
        run(baseline_object_, launch_for(spec_, baseline_, *workload_), baseline_, near_one, why);
    const std::vector<bool> stays = stay_in_range(choice.family, values_of(family.inputs.tensors),
                                                  values_of(outputs), values_of(other));
    std::size_t i = 0;
    for (const auto& [name, values] : outputs) {
      if (!stays[i++]) family.inputs.unjudged.insert(name);
    }
    if (family.inputs.unjudged.size() == outputs.size()) return;
  }
  families_.push_back(std::move(family));
}

const std::map<std::string, Reach>& StressBench::reach(Family& family) {
  if (family.reach) return *family.reach;
  std::map<std::string, Reach> reach;
  const auto launch = [&](const host::InputSet& inputs, double share) {
    std::string why;
    for (const auto& [name, values] :
         run(baseline_object_, launch_for(spec_, baseline_, *workload_), baseline_, inputs, why)) {
      reach[name].factor = reach_factor(spec_, *workload_);
      const CompareUnder under =
          compare_under(values, family.inputs.expected.at(name), family.infinities);
      const Tolerance& tolerance = family.tolerance.at(name);
      extend(reach[name].baseline, under(tolerance), tolerance, under, share);
    }
  };
  launch(family.inputs, 1);
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (std::uint64_t seed = 0; seed <= 3; ++seed) {
      host::InputSet nudged = family.inputs;
      bool any = false;
      std::uint64_t number = 0;
      for (auto& [name, values] : nudged.tensors) {
        ++number;
        if (values.dtype != type) continue;
        nudge(values, seed == 0 ? 0 : seed + 3 * number);
        any = true;
      }
      if (any) launch(nudged, nudge_share(type));
    }
  }
  for (const host::Rounding rounding : {host::Rounding::upward, host::Rounding::downward}) {
    if (reference_object_.empty()) break;
    std::string why;
    for (const auto& [name, values] :
         run(reference_object_, reference_.launch, reference_, family.inputs, why, rounding)) {
      const CompareUnder under =
          compare_under(values, family.inputs.expected.at(name), family.infinities);
      const Tolerance& tolerance = family.tolerance.at(name);
      extend(reach[name].reference, under(tolerance), tolerance, under);
    }
  }
  return family.reach.emplace(std::move(reach));
}

std::vector<StressBench::Finding> StressBench::judge(const Variant& variant) {
  std::string why;
  const std::string binary = object(variant, why);
  if (!why.empty()) return {{"compile", false, why}};
  std::vector<Finding> out;
  for (Family& family : families_) {
    Finding finding{family.name, true, ""};
    const TensorMap outputs =
        run(binary, launch_for(spec_, variant, *workload_), variant, family.inputs, why);
    if (outputs.empty()) return {{family.name, false, why}};
    for (const auto& [name, values] : outputs) {
      if (family.inputs.unjudged.contains(name)) continue;
      const CompareUnder under =
          compare_under(values, family.inputs.expected.at(name), family.infinities);
      const Tolerance& tolerance = family.tolerance.at(name);
      Comparison found = under(tolerance);
      if (!found.passed && !family.is_declared && !tolerance.exact)
        found = judge_by_reach(found, tolerance, reach(family).at(name), under);
      if (found.passed) continue;
      finding.passed = false;
      finding.detail = name + ": " + found.detail;
    }
    out.push_back(finding);
  }
  return out;
}
