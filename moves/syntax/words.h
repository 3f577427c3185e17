#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/base/dtype.h"

/// Types by their words.
namespace warpath::model {

/// Size of a scalar or CUDA vector type by its words ("unsigned int", "float4", "__nv_bfloat16",
/// "size_t"); 0 if unknown.
[[nodiscard]] std::size_t size_of_type(std::string_view type);
/// Element type by its words, including half, nv_bfloat16, int8_t, ...; nullopt for others
/// (including vectors).
[[nodiscard]] std::optional<DType> dtype_of_type(std::string_view type);
/// True for built-in integer types (char to long long, size_t, intN_t, bool) in any spelling.
[[nodiscard]] bool is_integer_type(std::string_view type);

}  // namespace warpath::model
