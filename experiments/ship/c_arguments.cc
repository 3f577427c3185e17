#include "experiments/ship/c_arguments.h"

#include "engine/base/dtype.h"
#include "engine/base/format.h"
#include "engine/text/function_text.h"
#include "runners/inputs/arguments.h"

namespace warpath {
namespace {

bool is_half(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16;
}

/// Of one element; empty if it is not one of C.
std::string element_type(DType dtype) {
  return is_half(dtype) || dtype == DType::boolean ? "" : std::string(info(dtype).cuda_type);
}

}  // namespace

std::vector<const ArgSpec*> launcher_arguments(const KernelSpec& spec) {
  std::vector<const ArgSpec*> out;
  for (const ArgSpec& arg : spec.io.args) {
    const bool size = arg.type == ArgType::integer || arg.type == ArgType::boolean;
    if (arg.type != ArgType::string && (!arg.is_meta || size)) out.push_back(&arg);
  }
  return out;
}

std::string c_name(const ArgSpec& arg) {
  // what the generated functions name themselves
  const bool taken = arg.name == "a" || arg.name == "g" || arg.name == "bad" ||
                     arg.name == "stream" || arg.name == "kernels" || arg.name == "device" ||
                     arg.name == "status";
  return is_keyword(arg.name) || taken ? arg.name + "_" : arg.name;
}

std::string c_type(const ArgSpec& arg) {
  if (arg.type == ArgType::tensor) {
    const std::string element = element_type(arg.tensor->dtype);
    return (is_written(arg) ? "" : "const ") + (element.empty() ? "void" : element) + "*";
  }
  if (arg.is_meta) return "long long";
  if (arg.dtype == DType::boolean) return "unsigned char";
  return is_half(arg.dtype) ? "unsigned short" : element_type(arg.dtype);
}

std::string c_parameters(const KernelSpec& spec) {
  std::string out;
  for (const ArgSpec* const arg : launcher_arguments(spec))
    out += (out.empty() ? "" : ", ") + c_type(*arg) + " " + c_name(*arg);
  return out;
}

std::string c_names(const KernelSpec& spec) {
  std::string out;
  for (const ArgSpec* const arg : launcher_arguments(spec))
    out += (out.empty() ? "" : ", ") + c_name(*arg);
  return out;
}

std::string c_constant(const ArgSpec& arg, const Workload& workload) {
  const ScalarValue value = *scalar_value(arg, workload);
  if (const auto* const flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  if (arg.type != ArgType::floating) {
    const auto number = std::get<std::int64_t>(value);
    return number == INT64_MIN ? "(-9223372036854775807LL - 1)" : std::to_string(number) + "LL";
  }
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value);
  if (arg.dtype == DType::f16) return std::to_string(float_to_half(static_cast<float>(number)));
  if (arg.dtype == DType::bf16)
    return std::to_string(float_to_bfloat16(static_cast<float>(number)));
  return "(" + c_type(arg) + ")" + format("%a", number);
}

std::string c_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace warpath
