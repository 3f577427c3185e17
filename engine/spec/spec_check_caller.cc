#include "engine/spec/spec_check_caller.h"

#include <algorithm>
#include <set>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/spec/compare.h"

namespace warpath {
namespace {

[[noreturn]] void fail(const KernelSpec& spec,
                       const std::string& pointer,
                       std::string_view value,
                       std::string_view expected) {
  throw bad_input(spec.place(pointer), value, expected);
}

void check_structs(const KernelSpec& spec) {
  std::set<std::string> seen;
  std::string open;
  for (std::size_t i = 0; i < spec.io.args.size(); ++i) {
    const ArgSpec& arg = spec.io.args[i];
    const std::string pointer = "/kernel/io/args/" + std::to_string(i) + "/member_of";
    const std::string& name = arg.member_of;
    if (name != open && !name.empty() && !seen.insert(name).second)
      fail(spec, pointer, name, "the members of a struct one after another");
    open = name;
    if (name.empty()) continue;
    if (!is_word_start(name[0]) || !std::ranges::all_of(name, is_word))
      fail(spec, pointer, name, "an identifier, the name of a parameter");
    if (spec.io.find(name) != nullptr) fail(spec, pointer, name, "a name that no argument has");
    if (arg.is_meta || arg.type == ArgType::string)
      fail(spec, pointer, name, "no struct: the kernel does not get " + arg.name);
  }
}

void check_fixed_launch(const KernelSpec& spec) {
  if (spec.launch_owner != LaunchOwner::caller) return;
  const auto check = [&](const Expression& expression, const std::string& pointer) {
    for (const Tunable& tunable : spec.tunables) {
      if (!expression.names().contains(tunable.name)) continue;
      fail(spec, pointer, expression.text(),
           "no tunable (" + tunable.name + "), since /launch is fixed: the caller's numbers");
    }
  };
  const auto check_plan = [&](const LaunchPlan& plan, const std::string& pointer) {
    static constexpr const char* kAxisKeys[] = {"/x", "/y", "/z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      check(plan.grid[axis], pointer + "/grid" + kAxisKeys[axis]);
      check(plan.block[axis], pointer + "/block" + kAxisKeys[axis]);
      check(plan.cluster[axis], pointer + "/cluster" + kAxisKeys[axis]);
    }
    check(plan.dynamic_smem_bytes, pointer + "/dynamic_smem_bytes");
  };
  check_plan(spec.io.launch, "/kernel/io/launch");
  for (std::size_t i = 0; i < spec.workloads.size(); ++i) {
    if (spec.workloads[i].launch)
      check_plan(*spec.workloads[i].launch, "/kernel/workloads/" + std::to_string(i) + "/launch");
  }
}

/// The same for every seed.
bool is_constant(const TensorSpec& tensor) {
  const auto* const rule = std::get_if<InitRule>(&tensor.content);
  if (rule == nullptr) return std::holds_alternative<EmbeddedData>(tensor.content);
  using Kind = InitRule::Kind;
  return rule->kind == Kind::zeros || rule->kind == Kind::ones || rule->kind == Kind::full ||
         rule->kind == Kind::arange;
}

void check_given_output(const KernelSpec& spec,
                        const ArgSpec& arg,
                        const Workload& workload,
                        const Tensor& given,
                        const std::string& pointer) {
  const auto shape = spec.shape_of(arg, workload);
  const DType own = spec.tensor_of(arg, workload).dtype;
  const bool wider = info(own).is_float && given.dtype == DType::f64;
  if (given.dtype != own && !wider)
    fail(spec, pointer, info(given.dtype).name,
         std::string(info(own).name) + ", as the tensor_spec says" +
             (info(own).is_float ? ", or float64" : ""));
  if (given.shape != shape)
    fail(spec, pointer, "shape " + shape_text(given.shape),
         shape_text(shape) + ", the shape of " + arg.name + " in workload " + workload.name);
}

void check_given_outputs(const KernelSpec& spec) {
  const auto* const given = std::get_if<ReferenceOutputs>(&spec.reference);
  if (given == nullptr) return;
  const std::string root = "/reference/outputs";
  for (const auto& [name, outputs] : given->of_workload) {
    if (std::ranges::find(spec.workloads, name, &Workload::name) == spec.workloads.end())
      fail(spec, root + "/" + name, name, "the name of a workload");
    for (const auto& [output, data] : outputs) {
      const ArgSpec* const arg = spec.io.find(output);
      if (arg == nullptr || (arg->role != ArgRole::output && arg->role != ArgRole::inout))
        fail(spec, root + "/" + name + "/" + output, output, "the name of an output");
    }
  }
  for (const Workload& workload : spec.workloads) {
    const std::string pointer = root + "/" + workload.name;
    const auto outputs = given->of_workload.find(workload.name);
    if (outputs == given->of_workload.end())
      fail(spec, root, "no " + workload.name, "the outputs of every workload");
    for (const ArgSpec& arg : spec.io.args) {
      if (arg.type != ArgType::tensor) continue;
      if (arg.role != ArgRole::output && !is_constant(spec.tensor_of(arg, workload)))
        fail(spec, pointer, arg.name + " whose values depend on a seed",
             "inputs of which these are the outputs: data, zeros, ones, full or arange");
      if (arg.role == ArgRole::input) continue;
      const auto data = outputs->second.find(arg.name);
      if (data == outputs->second.end())
        fail(spec, pointer, "no " + arg.name, "the values of every output");
      check_given_output(spec, arg, workload, data->second.tensor, pointer + "/" + arg.name);
    }
  }
}

}  // namespace

void check_caller(const KernelSpec& spec) {
  check_structs(spec);
  check_fixed_launch(spec);
  check_given_outputs(spec);
}

}  // namespace warpath
