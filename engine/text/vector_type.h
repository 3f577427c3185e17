#pragma once

#include <optional>
#include <string_view>

#include "engine/base/dtype.h"

namespace warpath {

/// A vector type of CUDA's: float4 is four of f32.
struct VectorType {
  DType element = DType::f32;
  int lanes = 1;
};

/// The vector type of that name (char1 to double4, half2, __nv_bfloat162); nullopt if it is none.
[[nodiscard]] std::optional<VectorType> vector_type_of(std::string_view name);

}  // namespace warpath
