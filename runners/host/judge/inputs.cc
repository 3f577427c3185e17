#include "runners/host/judge/inputs.h"

#include <algorithm>
#include <array>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/spec/tensor_init.h"
#include "runners/inputs/arguments.h"

namespace warpath::host {
namespace {

/// Compiler options of NVRTC and nvcc without a meaning here.
bool means_nothing(std::string_view option) {
  static constexpr WordList kHeads(
      "--use_fast_math -use_fast_math --gpu-architecture -arch --std -std -lineinfo "
      "--generate-line-info --maxrregcount -maxrregcount --fmad -fmad --ftz -ftz --prec-div "
      "-prec-div --prec-sqrt -prec-sqrt -default-device --device-as-default-execution-space "
      "--extra-device-vectorization -extra-device-vectorization -O --restrict -restrict -w");
  return std::any_of(kHeads.begin(), kHeads.end(),
                     [&](std::string_view head) { return option.starts_with(head); });
}

}  // namespace

InputSet make_inputs(const KernelSpec& spec, const Workload& workload, std::uint64_t seed) {
  InputSet out;
  out.seed = seed;
  for (const auto& arg : spec.io.args) {
    if (arg.type == ArgType::tensor) {
      if (arg.role != ArgRole::output)
        out.tensors.emplace(arg.name, materialize(spec, arg, workload, seed));
    } else if (const auto scalar = scalar_value(arg, workload)) {
      out.scalars.emplace(arg.name, *scalar);
    }
  }
  return out;
}

std::vector<BoundArgument> bound_arguments(const KernelSpec& spec,
                                           const Workload& workload,
                                           const InputSet& inputs) {
  std::vector<BoundArgument> out;
  for (const ArgSpec* arg : kernel_arguments(spec)) {
    BoundArgument bound;
    bound.role = arg->role;
    if (arg->type == ArgType::tensor) {
      bound.is_tensor = true;
      bound.dtype = arg->tensor->dtype;
      bound.alignment_bytes = static_cast<std::uint64_t>(arg->tensor->alignment_bytes);
      if (arg->role == ArgRole::output) {
        std::uint64_t elements = 1;
        for (const auto extent : spec.shape_of(*arg, workload))
          elements *= static_cast<std::uint64_t>(extent);
        bound.size_bytes = elements * info(bound.dtype).size_bytes;
      } else {
        bound.bytes = inputs.tensors.at(arg->name).bytes;
        bound.size_bytes = bound.bytes.size();
      }
    } else {
      bound.role = ArgRole::scalar;
      bound.dtype = arg->dtype;
      bound.bytes = scalar_bytes(inputs.scalars.at(arg->name), arg->dtype);
      bound.size_bytes = bound.bytes.size();
    }
    out.push_back(std::move(bound));
  }
  return out;
}

std::vector<ParameterLayout> struct_parameters(const KernelSpec& spec) {
  return has_structs(spec) ? parameter_layouts(spec) : std::vector<ParameterLayout>{};
}

Macros macros_for(const KernelSpec& spec,
                  const Workload& workload,
                  const TunableValues& tunables,
                  const std::vector<std::string>& options) {
  Macros out;
  const auto define = [&](const std::string& name, const std::string& text) {
    out.text[name] = text;
    const bool number =
        !text.empty() && text.size() <= 18 && std::all_of(text.begin(), text.end(), is_digit);
    if (number) out.integers[name] = std::stoll(text);
  };
  for (const auto& [name, text] : workload_macros(spec, workload, tunables)) define(name, text);
  const SplitOptions split = split_options(options);
  for (const auto& [name, text] : split.macros) define(name, text);
  for (const std::string& option : split.others) {
    if (!means_nothing(option) && out.refused.empty()) out.refused = option;
  }
  return out;
}

}  // namespace warpath::host
