#include "runners/inputs/arguments.h"

#include <algorithm>
#include <cstring>

#include "engine/base/ascii.h"
#include "engine/base/format.h"

namespace warpath {
namespace {

double as_double(const ScalarValue& scalar) {
  return std::visit([](auto v) { return static_cast<double>(v); }, scalar);
}

std::int64_t as_integer(const ScalarValue& scalar) {
  return std::visit([](auto v) { return static_cast<std::int64_t>(v); }, scalar);
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

std::string macro_text(const ArgSpec& arg, const Workload& workload) {
  if (const auto scalar = scalar_value(arg, workload)) {
    if (const auto* const d = std::get_if<double>(&*scalar)) {
      const std::string number = number_text(*d, 17);
      return number.find_first_of(".en") == std::string::npos ? number + ".0" : number;
    }
    return std::to_string(as_integer(*scalar));
  }
  const auto* const text = std::get_if<std::string>(&arg.value);
  return text == nullptr ? "" : *text;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, is_word);
}

}  // namespace

std::vector<const ArgSpec*> kernel_arguments(const KernelSpec& spec) {
  std::vector<const ArgSpec*> out;
  for (const auto& arg : spec.io.args) {
    if (!arg.is_meta && arg.type != ArgType::string) out.push_back(&arg);
  }
  return out;
}

std::vector<const ArgSpec*> output_arguments(const KernelSpec& spec) {
  std::vector<const ArgSpec*> out;
  for (const ArgSpec* arg : kernel_arguments(spec)) {
    if (arg->type == ArgType::tensor && arg->role != ArgRole::input) out.push_back(arg);
  }
  return out;
}

std::optional<ScalarValue> scalar_value(const ArgSpec& arg, const Workload& workload) {
  if (const auto it = workload.scalars.find(arg.name); it != workload.scalars.end())
    return it->second;
  if (const auto* const i = std::get_if<std::int64_t>(&arg.value)) return *i;
  if (const auto* const d = std::get_if<double>(&arg.value)) return *d;
  if (const auto* const b = std::get_if<bool>(&arg.value)) return *b;
  return std::nullopt;
}

std::map<std::string, ScalarValue, std::less<>> scalar_values(const KernelSpec& spec,
                                                              const Workload& workload) {
  std::map<std::string, ScalarValue, std::less<>> out;
  for (const auto& arg : spec.io.args) {
    if (const auto scalar = scalar_value(arg, workload)) out.emplace(arg.name, *scalar);
  }
  return out;
}

std::vector<std::byte> scalar_bytes(const ScalarValue& value, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return bytes_of(as_double(value));
    case DType::f32:
      return bytes_of(static_cast<float>(as_double(value)));
    case DType::f16:
      return bytes_of(float_to_half(static_cast<float>(as_double(value))));
    case DType::bf16:
      return bytes_of(float_to_bfloat16(static_cast<float>(as_double(value))));
    default: {
      auto out = bytes_of(as_integer(value));  // little-endian: the low bytes come first
      out.resize(info(dtype).size_bytes);
      return out;
    }
  }
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

MacroTexts workload_macros(const KernelSpec& spec,
                           const Workload& workload,
                           const TunableValues& tunables) {
  MacroTexts texts;
  for (const auto& arg : spec.io.args) {
    if ((arg.is_meta && !arg.is_size) || arg.type == ArgType::string)
      texts[arg.name] = macro_text(arg, workload);
  }
  for (const auto& [name, value] : tunables) texts[name] = std::to_string(value);
  return texts;
}

SplitOptions split_options(const std::vector<std::string>& options) {
  SplitOptions split;
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string option = options[i];
    if ((option == "-D" || option == "--define-macro") && i + 1 < options.size())
      option = "-D" + options[++i];
    if (option.starts_with("--define-macro=")) option = "-D" + option.substr(15);
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string name = option.starts_with("-D") ? option.substr(2, equals - 2) : "";
    const std::string text = equals == option.size() ? "1" : option.substr(equals + 1);
    if (is_identifier(name) && text.find_first_of("\n\r\\") == std::string::npos) {
      split.macros.emplace_back(name, text);
    } else {
      split.others.push_back(options[i]);
    }
  }
  return split;
}

std::vector<std::string> options_of_reference(const std::vector<std::string>& options) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& option = options[i];
    const bool in_two = option == "-D" || option == "--define-macro" || option == "-U" ||
                        option == "--undefine-macro";
    const bool one_of = std::ranges::any_of(
        std::initializer_list<std::string_view>{"-D", "--define-macro=", "-U",
                                                "--undefine-macro=", "-std=", "--std="},
        [&](std::string_view head) { return option.starts_with(head); });
    if (!in_two && !one_of) continue;
    out.push_back(option);
    if (in_two && i + 1 < options.size()) out.push_back(options[++i]);
  }
  return out;
}

}  // namespace warpath
