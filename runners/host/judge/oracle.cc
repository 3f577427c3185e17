#include "runners/host/judge/oracle.h"

#include <algorithm>

#include "engine/base/detailed_error.h"
#include "engine/base/format.h"
#include "engine/spec/parameters.h"
#include "runners/host/options.h"
#include "runners/inputs/arguments.h"

namespace warpath::host {
namespace {

Variant reference_variant(const KernelSpec& spec) {
  Variant variant = baseline_variant(spec);
  if (const auto* const kernel = std::get_if<ReferenceKernel>(&spec.reference)) {
    variant.source = kernel->source;
    variant.kernel_name = kernel->kernel_name;
    variant.launch = kernel->launch;
    variant.compiler_options = options_of_reference(spec.compiler_options);
  }
  return variant;
}

}  // namespace

Oracle::Oracle(const KernelSpec& spec,
               const Compiler& compiler,
               const HostOptions& options,
               const std::string& program)
    : spec_(spec),
      compiler_(compiler),
      options_(options),
      source_(make_reference(spec_, ReferenceConfig{compiler.scratch().string()})),
      kernel_(reference_variant(spec)),
      worker_(program, options) {}

const std::string& Oracle::object_for(const Workload& workload) {
  const Macros macros = macros_for(spec_, workload, kernel_.tunables, kernel_.compiler_options);
  if (const auto it = objects_.find(macros); it != objects_.end()) return it->second;
  CompileJob job;
  job.source = kernel_.source;
  job.kernels = {kernel_.kernel_name};
  job.macros = macros.text;
  job.integers = macros.integers;
  const Compiled compiled = compiler_.compile(job);
  if (compiled.status != Status::ok) {
    throw DetailedError(bad_input(spec_.place(is_baseline() ? "/kernel" : "/reference/kernel"), "",
                                  "a kernel that the host runner compiles: " +
                                      compiled.log.substr(0, compiled.log.find('\n'))),
                        compiled.log);
  }
  return objects_.emplace(macros, compiled.object_path).first->second;
}

TensorMap Oracle::run_kernel(const Workload& workload,
                             const InputSet& inputs,
                             Rounding rounding,
                             bool again) {
  const std::string place = spec_.origin + (is_baseline() ? "/kernel" : "/reference/kernel");
  const auto fail = [&](const std::string& what) {
    return bad_input(place, "", "a kernel that runs on workload " + workload.name + ": " + what);
  };
  const WorkerClient::Limit limit(10 * options_.launch_seconds + 1);  // naive on purpose
  const auto loaded = worker_.load(object_for(workload), 0, limit, {});
  if (loaded.loss && loaded.loss->killed_from_outside() && !again)
    return run_kernel(workload, inputs, rounding, true);
  if (loaded.loss || !loaded.reply.problem.empty()) throw fail("it cannot be loaded");
  const auto arguments = bound_arguments(spec_, workload, inputs);
  const std::vector<ParameterLayout> layouts = parameter_layouts(spec_);
  if (loaded.reply.parameters.size() != layouts.size()) {
    throw fail("it takes " + std::to_string(loaded.reply.parameters.size()) +
               " parameters, the spec passes " + std::to_string(layouts.size()));
  }
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const auto& parameter = loaded.reply.parameters[i];
    const bool is_struct = !layouts[i].struct_name.empty();
    const bool is_tensor = !is_struct && arguments[layouts[i].members.front()].is_tensor;
    const bool fits = is_tensor ? parameter.kind == kWarpathPointer
                                : parameter.kind != kWarpathPointer &&
                                      (parameter.kind == kWarpathOther) == is_struct &&
                                      parameter.size_bytes == layouts[i].size_bytes;
    if (!fits)
      throw fail("parameter " + std::to_string(i + 1) + " of " +
                 std::to_string(parameter.size_bytes) + " bytes does not fit the spec's " +
                 (is_struct
                      ? "struct " + layouts[i].struct_name + " " + layout_text(spec_, layouts[i])
                      : "argument"));
  }
  LaunchCommand command;
  const LaunchPlan& plan = is_baseline() ? launch_for(spec_, kernel_, workload) : kernel_.launch;
  command.numbers = evaluate(plan, spec_.bindings(workload, kernel_.tunables), place + "/launch");
  if (const auto problem = launch_problem(command.numbers); !problem.empty()) throw fail(problem);
  command.seed = inputs.seed;
  command.rounding = rounding;
  if (worker_.bind(arguments, limit, {}, struct_parameters(spec_)))
    throw fail("its tensors do not fit in memory");
  auto answer = worker_.launch(command, limit, {});
  if (answer.loss && answer.loss->killed_from_outside() && !again)
    return run_kernel(workload, inputs, rounding, true);
  if (answer.loss && answer.loss->kind == WorkerLoss::Kind::timed_out)
    throw fail("it took longer than " + number_text(limit.count()) +
               " s; smaller sizes in the workload's scalars may help");
  if (answer.loss) throw fail("it crashed: an index may leave its array, or a divisor be 0");
  if (answer.reply.end != BlockEnd::done) throw fail(answer.reply.detail);
  if (answer.reply.guard_argument >= 0) throw fail("it writes outside its tensors");
  TensorMap out;
  const auto outputs = output_arguments(spec_);
  for (std::size_t i = 0; i < outputs.size() && i < answer.reply.outputs.size(); ++i) {
    out.emplace(outputs[i]->name,
                Tensor{outputs[i]->tensor->dtype, spec_.shape_of(*outputs[i], workload),
                       std::move(answer.reply.outputs[i])});
  }
  return out;
}

std::shared_ptr<const InputSet> Oracle::inputs(const Workload& workload, std::uint64_t seed) {
  auto set = std::make_shared<InputSet>(make_inputs(spec_, workload, seed));
  expect(workload, *set);
  return set;
}

void Oracle::expect(const Workload& workload, InputSet& inputs) {
  const std::lock_guard lock(mutex_);
  inputs.expected = source_ ? source_->compute({spec_, workload, inputs.tensors, inputs.scalars})
                            : run_kernel(workload, inputs);
  for (const ArgSpec* const arg : output_arguments(spec_)) {
    if (!inputs.expected.contains(arg->name))
      throw bad_input(spec_.origin + "/reference", "", "a value for output " + arg->name);
  }
}

TensorMap Oracle::rounded(const Workload& workload, const InputSet& inputs, Rounding rounding) {
  const std::lock_guard lock(mutex_);
  if (source_) return {};
  try {
    return run_kernel(workload, inputs, rounding);
  } catch (const Error&) {
    return {};
  }
}

std::shared_ptr<const InputSet> Oracle::kept_inputs(const Workload& workload, std::uint64_t seed) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = kept_.find({workload.name, seed}); it != kept_.end()) return it->second;
  }
  auto set = inputs(workload, seed);
  const std::lock_guard lock(mutex_);
  return kept_.emplace(std::pair{workload.name, seed}, std::move(set)).first->second;
}

}  // namespace warpath::host
