#include "experiments/ship/binding_code.h"

#include <functional>

#include "engine/base/dtype.h"
#include "experiments/ship/c_arguments.h"

namespace warpath {
namespace {

/// A scalar as frameworks pass it.
std::string scalar_type(const ArgSpec& arg) {
  if (arg.type == ArgType::boolean) return "bool";
  const bool as_number = arg.type == ArgType::floating && c_type(arg) != "unsigned short";
  return as_number ? "double" : "int64_t";
}

/// The code of DLPack's DLDataType.
const char* dlpack_code(DType dtype) {
  if (dtype == DType::boolean) return "kDLBool";
  if (dtype == DType::bf16) return "kDLBfloat";
  if (info(dtype).is_float) return "kDLFloat";
  return info(dtype).is_signed ? "kDLInt" : "kDLUInt";
}

const char* torch_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "at::kDouble";
    case DType::f32:
      return "at::kFloat";
    case DType::f16:
      return "at::kHalf";
    case DType::bf16:
      return "at::kBFloat16";
    case DType::i64:
    case DType::u64:
      return "at::kLong";
    case DType::i32:
    case DType::u32:
      return "at::kInt";
    case DType::i16:
    case DType::u16:
      return "at::kShort";
    case DType::i8:
      return "at::kChar";
    case DType::u8:
      return "at::kByte";
    case DType::boolean:
      return "at::kBool";
  }
  return "";
}

/// What both have in common. `tensor_type`: of a parameter; `checks`: further arguments of
/// address(), by type.
Placeholders binding(const KernelSpec& spec,
                     const std::string& tensor_type,
                     const std::function<std::string(DType)>& checks) {
  std::string parameters, scalars, tensors, launch, first;
  for (const ArgSpec* const arg : launcher_arguments(spec)) {
    const std::string name = c_name(*arg);
    const bool tensor = arg->type == ArgType::tensor;
    parameters +=
        (parameters.empty() ? "" : ", ") + (tensor ? tensor_type : scalar_type(*arg)) + " " + name;
    launch += (launch.empty() ? "a." : ", a.") + name;
    if (!tensor) {
      scalars += "  a." + name + " = static_cast<" + c_type(*arg) + ">(" + name + ");\n";
      // frameworks pass 64 bits
      if (arg->type == ArgType::integer)
        scalars += "  if (static_cast<int64_t>(a." + name + ") != " + name + ") bad = 1;\n";
      continue;
    }
    if (first.empty()) first = name;
    tensors += "  const long long bytes_of_" + name + " = bytes_" + name + "(&a, &bad);\n  a." +
               name + " = static_cast<" + c_type(*arg) + ">(address(" + name + ", " +
               c_literal(arg->name) + ", " + checks(arg->tensor->dtype) + ", bytes_of_" + name +
               ", bad != 0));\n";
  }
  std::string assign = scalars + tensors;
  assign.pop_back();
  return {{"PARAMETERS", parameters},
          {"ASSIGN", assign},
          {"LAUNCH", launch},
          {"CALL", c_names(spec)},
          {"FIRST", first}};
}

}  // namespace

Placeholders tvm_ffi_code(const KernelSpec& spec) {
  return binding(spec, "TensorView", [](DType dtype) {
    return std::string(dlpack_code(dtype)) + ", " + std::to_string(8 * info(dtype).size_bytes);
  });
}

Placeholders torch_code(const KernelSpec& spec) {
  Placeholders out = binding(spec, "const at::Tensor&",
                             [](DType dtype) { return std::string(torch_type(dtype)); });
  std::string schema;
  char alias = 'a';
  for (const ArgSpec* const arg : launcher_arguments(spec)) {
    std::string type = "Tensor";
    if (arg->type == ArgType::tensor && is_written(*arg))
      type += std::string("(") + (alias <= 'z' ? alias++ : 'z') + "!)";
    if (arg->type != ArgType::tensor) {
      const std::string scalar = scalar_type(*arg);
      type = scalar == "double" ? "float" : scalar == "bool" ? "bool" : "int";
    }
    schema += (schema.empty() ? "" : ", ") + type + " " + c_name(*arg);
  }
  out["SCHEMA"] = schema;
  return out;
}

}  // namespace warpath
