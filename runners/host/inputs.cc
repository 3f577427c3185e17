#include "runners/host/inputs.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/error.h"
#include "engine/tensor_init.h"

namespace warpath::host {
namespace {

std::string macro_text(const ArgSpec& arg, const Workload& workload) {
  if (const auto scalar = scalar_value(arg, workload)) {
    if (const auto* const d = std::get_if<double>(&*scalar)) {
      char text[40];
      std::snprintf(text, sizeof text, "%.17g", *d);
      const std::string number = text;
      return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
    }
    return std::to_string(as_integer(*scalar));
  }
  const auto* const text = std::get_if<std::string>(&arg.value);
  return text == nullptr ? "" : *text;
}

/// Compiler options of NVRTC and nvcc without a meaning here.
bool means_nothing(std::string_view option) {
  constexpr std::array<std::string_view, 26> kHeads{"--use_fast_math",
                                                    "-use_fast_math",
                                                    "--gpu-architecture",
                                                    "-arch",
                                                    "--std",
                                                    "-std",
                                                    "-lineinfo",
                                                    "--generate-line-info",
                                                    "--maxrregcount",
                                                    "-maxrregcount",
                                                    "--fmad",
                                                    "-fmad",
                                                    "--ftz",
                                                    "-ftz",
                                                    "--prec-div",
                                                    "-prec-div",
                                                    "--prec-sqrt",
                                                    "-prec-sqrt",
                                                    "-default-device",
                                                    "--device-as-default-execution-space",
                                                    "--extra-device-vectorization",
                                                    "-extra-device-vectorization",
                                                    "-O",
                                                    "--restrict",
                                                    "-restrict",
                                                    "-w"};
  return std::any_of(kHeads.begin(), kHeads.end(),
                     [&](std::string_view head) { return option.starts_with(head); });
}

}  // namespace

InputSet make_inputs(const KernelSpec& spec, const Workload& workload, std::uint64_t seed) {
  InputSet out;
  out.seed = seed;
  out.scalars = scalar_values(spec, workload);
  for (const auto& arg : spec.io.args) {
    if (arg.type == ArgType::tensor) {
      if (arg.role != ArgRole::output)
        out.tensors.emplace(arg.name, materialize(spec, arg, workload, seed));
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

Macros macros_for(const KernelSpec& spec,
                  const Workload& workload,
                  const TunableValues& tunables,
                  const std::vector<std::string>& options) {
  Macros out;
  const auto define = [&](const std::string& name, const std::string& text) {
    out.text[name] = text;
    const bool number =
        !text.empty() && text.size() <= 18 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (number) out.integers[name] = std::stoll(text);
  };
  for (const auto& arg : spec.io.args) {
    if (arg.is_meta || arg.type == ArgType::string) define(arg.name, macro_text(arg, workload));
  }
  for (const auto& [name, value] : tunables) define(name, std::to_string(value));
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string option = options[i];
    if ((option == "-D" || option == "--define-macro") && i + 1 < options.size())
      option = "-D" + options[++i];
    if (option.starts_with("--define-macro=")) option = "-D" + option.substr(15);
    if (option.starts_with("-D") && option.size() > 2) {
      const auto equals = option.find('=');
      const std::string name =
          option.substr(2, equals == std::string::npos ? std::string::npos : equals - 2);
      const bool identifier = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
      });
      const std::string text = equals == std::string::npos ? "1" : option.substr(equals + 1);
      if (identifier && text.find_first_of("\n\r\\") == std::string::npos) {
        define(name, text);
        continue;
      }
    }
    if (!means_nothing(option) && out.refused.empty()) out.refused = options[i];
  }
  return out;
}

std::int64_t tensor_bytes(const KernelSpec& spec, const Workload& workload) {
  double total = 0;  // a product of extents may exceed 64 bits
  for (const auto& arg : spec.io.args) {
    if (arg.type != ArgType::tensor) continue;
    double bytes = static_cast<double>(info(arg.tensor->dtype).size_bytes);
    for (const auto extent : spec.shape_of(arg, workload)) bytes *= static_cast<double>(extent);
    total += bytes;
  }
  return static_cast<std::int64_t>(std::min(total, 9e18));
}

}  // namespace warpath::host
