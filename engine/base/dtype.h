#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/portable/value.h"

namespace warpath {

/// An element type. Names in specs: float64 float32 float16 bfloat16 int64 int32 int16 int8 uint64
/// uint32 uint16 uint8 bool.
struct DTypeInfo {
  DType dtype;
  std::string_view name;  ///< as written in specs
  std::size_t size_bytes;
  bool is_float;
  bool is_signed;
  std::string_view cuda_type;  ///< C++ spelling in kernels ("__half", "unsigned int", ...)
};

/// The only table of element types, in enumerator order.
inline constexpr std::array<DTypeInfo, 13> kDTypes{{
    {DType::f64, "float64", 8, true, true, "double"},
    {DType::f32, "float32", 4, true, true, "float"},
    {DType::f16, "float16", 2, true, true, "__half"},
    {DType::bf16, "bfloat16", 2, true, true, "__nv_bfloat16"},
    {DType::i64, "int64", 8, false, true, "long long"},
    {DType::i32, "int32", 4, false, true, "int"},
    {DType::i16, "int16", 2, false, true, "short"},
    {DType::i8, "int8", 1, false, true, "signed char"},
    {DType::u64, "uint64", 8, false, false, "unsigned long long"},
    {DType::u32, "uint32", 4, false, false, "unsigned int"},
    {DType::u16, "uint16", 2, false, false, "unsigned short"},
    {DType::u8, "uint8", 1, false, false, "unsigned char"},
    {DType::boolean, "bool", 1, false, false, "bool"},
}};

[[nodiscard]] constexpr const DTypeInfo& info(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}
[[nodiscard]] constexpr std::optional<DType> parse_dtype(std::string_view name) {
  for (const auto& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

/// The greatest finite value of a floating type.
[[nodiscard]] constexpr double greatest_finite(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f32:
      return 0x1.fffffep127;
    default:
      return 0x1.fffffffffffffp1023;
  }
}

/// IEEE binary16 and bfloat16, round to nearest even; NaN stays NaN.
[[nodiscard]] std::uint16_t float_to_half(float value);
[[nodiscard]] float half_to_float(std::uint16_t bits);
[[nodiscard]] std::uint16_t float_to_bfloat16(float value);
[[nodiscard]] float bfloat16_to_float(std::uint16_t bits);

}  // namespace warpath
