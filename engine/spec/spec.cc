#include "engine/spec/spec.h"

#include "engine/base/error.h"

namespace warpath {

const ArgSpec* IOContract::find(std::string_view name) const {
  for (const ArgSpec& arg : args) {
    if (arg.name == name) return &arg;
  }
  return nullptr;
}

std::string KernelSpec::place(std::string_view pointer) const {
  // The origin is "FILE" or, in a list, "FILE:/3".
  const auto colon = origin.rfind(":/");
  const bool listed = colon != std::string::npos && colon + 2 < origin.size() &&
                      origin.find_first_not_of("0123456789", colon + 2) == std::string::npos;
  return origin + (listed ? "" : ":") + std::string(pointer);
}

std::string KernelSpec::place_of(const ArgSpec& arg, const Workload& workload) const {
  std::size_t i = 0;
  while (i < io.args.size() && io.args[i].name != arg.name) ++i;
  return place("/kernel/io/args/" + std::to_string(i) + "/tensor_spec") + " (workload " +
         workload.name + ")";
}

Bindings KernelSpec::bindings(
    const Workload& workload,
    const std::map<std::string, std::int64_t, std::less<>>& tunable_values) const {
  Bindings out;
  const auto bind = [&](const std::string& key, const auto& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) out[key] = *integer;
    if (const auto* boolean = std::get_if<bool>(&value)) out[key] = *boolean ? 1 : 0;
  };
  for (const ArgSpec& arg : io.args) bind(arg.name, arg.value);
  for (const auto& [key, value] : workload.scalars) bind(key, value);
  for (const auto& [key, value] : tunable_values) out[key] = value;
  return out;
}

std::map<std::string, std::int64_t, std::less<>> KernelSpec::default_tunables() const {
  std::map<std::string, std::int64_t, std::less<>> out;
  for (const Tunable& tunable : tunables) out[tunable.name] = tunable.default_value;
  return out;
}

const Tolerance& KernelSpec::tolerance_of(std::string_view output) const {
  static const Tolerance kDefault;
  if (const auto own = tolerance.find(output); own != tolerance.end()) return own->second;
  const auto shared = tolerance.find(std::string_view());
  return shared != tolerance.end() ? shared->second : kDefault;
}

TensorSpec KernelSpec::tensor_of(const ArgSpec& arg, const Workload& workload) const {
  WARPATH_CHECK(arg.tensor.has_value());
  const auto own = workload.tensors.find(arg.name);
  TensorSpec out = own != workload.tensors.end() ? own->second : *arg.tensor;
  if (const auto init = workload.init.find(arg.name); init != workload.init.end())
    out.content = init->second;
  return out;
}

std::vector<std::int64_t> KernelSpec::shape_of(const ArgSpec& arg, const Workload& workload) const {
  const Bindings names = bindings(workload, default_tunables());
  std::vector<std::int64_t> out;
  const std::string at = place_of(arg, workload);
  for (const Expression& extent : tensor_of(arg, workload).shape)
    out.push_back(extent.evaluate(names, at));
  return out;
}

const LaunchPlan& KernelSpec::launch_of(const Workload& workload) const {
  return workload.launch ? *workload.launch : io.launch;
}

}  // namespace warpath
