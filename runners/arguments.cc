#include "runners/arguments.h"

#include <cstring>

#include "engine/tensor.h"

namespace warpath {
namespace {

double as_double(const ScalarValue& scalar) {
  return std::visit([](auto v) { return static_cast<double>(v); }, scalar);
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

}  // namespace

std::optional<ScalarValue> scalar_value(const ArgSpec& arg, const Workload& workload) {
  if (const auto it = workload.scalars.find(arg.name); it != workload.scalars.end())
    return it->second;
  if (const auto* const i = std::get_if<std::int64_t>(&arg.value)) return *i;
  if (const auto* const d = std::get_if<double>(&arg.value)) return *d;
  if (const auto* const b = std::get_if<bool>(&arg.value)) return *b;
  return std::nullopt;
}

std::int64_t as_integer(const ScalarValue& scalar) {
  return std::visit([](auto v) { return static_cast<std::int64_t>(v); }, scalar);
}

std::vector<std::byte> scalar_bytes(const ScalarValue& scalar, DType dtype) {
  switch (dtype) {
    case DType::f64: return bytes_of(as_double(scalar));
    case DType::f32: return bytes_of(static_cast<float>(as_double(scalar)));
    case DType::f16: return bytes_of(float_to_half(static_cast<float>(as_double(scalar))));
    case DType::bf16: return bytes_of(float_to_bfloat16(static_cast<float>(as_double(scalar))));
    default: {
      auto out = bytes_of(as_integer(scalar));  // little-endian: the low bytes come first
      out.resize(info(dtype).size_bytes);
      return out;
    }
  }
}

std::map<std::string, ScalarValue, std::less<>> scalar_values(const KernelSpec& spec,
                                                              const Workload& workload) {
  std::map<std::string, ScalarValue, std::less<>> out;
  for (const auto& arg : spec.io.args) {
    if (arg.type == ArgType::tensor) continue;
    if (const auto scalar = scalar_value(arg, workload)) out.emplace(arg.name, *scalar);
  }
  return out;
}

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

}  // namespace warpath
