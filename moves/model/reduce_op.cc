#include "moves/model/reduce_op.h"

#include <array>

#include "moves/syntax/words.h"

namespace warpath::model {

std::string_view name(ReduceOp op) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"+", "*", "min", "max", "&", "|", "^", "&&", "||"});
  return kNames[static_cast<std::size_t>(op)];
}

std::string identity_text(ReduceOp op, std::string_view type) {
  const auto dtype = dtype_of_type(type);
  if (!dtype) return {};
  const bool is_float = info(*dtype).is_float;
  const bool half = *dtype == DType::f16 || *dtype == DType::bf16;
  const std::string suffix = *dtype == DType::f32 ? "f" : "";
  switch (op) {
    case ReduceOp::add:
    case ReduceOp::bit_or:
    case ReduceOp::bit_xor:
      return half ? std::string(type) + "(0.0f)" : is_float ? "0.0" + suffix : "0";
    case ReduceOp::multiply:
      return half ? std::string(type) + "(1.0f)" : is_float ? "1.0" + suffix : "1";
    case ReduceOp::bit_and:
      return "~" + std::string(type == "int" ? "0" : "(" + std::string(type) + ")0");
    case ReduceOp::logical_and:
      return "true";
    case ReduceOp::logical_or:
      return "false";
    case ReduceOp::minimum:
    case ReduceOp::maximum: {
      const bool low = op == ReduceOp::maximum;
      if (half) return {};
      if (*dtype == DType::f32)
        return low ? "__int_as_float(0xff800000)" : "__int_as_float(0x7f800000)";
      if (*dtype == DType::f64)
        return low ? "__longlong_as_double(0xfff0000000000000LL)"
                   : "__longlong_as_double(0x7ff0000000000000LL)";
      if (*dtype == DType::i32) return low ? "(-2147483647 - 1)" : "2147483647";
      if (*dtype == DType::i64)
        return low ? "(-9223372036854775807LL - 1)" : "9223372036854775807LL";
      if (!info(*dtype).is_signed) return low ? "0" : "~(" + std::string(type) + ")0";
      return {};
    }
  }
  return {};
}

std::string combine_text(ReduceOp op,
                         std::string_view type,
                         std::string_view a,
                         std::string_view b) {
  if (op == ReduceOp::minimum || op == ReduceOp::maximum) {
    const bool low = op == ReduceOp::minimum;
    const auto dtype = dtype_of_type(type);
    std::string f = low ? "min" : "max";
    if (dtype == DType::f32) f = low ? "fminf" : "fmaxf";
    if (dtype == DType::f64) f = low ? "fmin" : "fmax";
    if (dtype == DType::f16 || dtype == DType::bf16) f = low ? "__hmin" : "__hmax";
    return f + "(" + std::string(a) + ", " + std::string(b) + ")";
  }
  return std::string(a) + " " + std::string(name(op)) + " " + std::string(b);
}

}  // namespace warpath::model
