#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "moves/tiles/contraction.h"

namespace warpath {

/// One operand on its way through shared memory.
struct TileStage {
  const ContractionOperand* operand = nullptr;
  const ContractionAxis* axis = nullptr;
  std::string outer, outer_block;  ///< names: of its extent in the tile (BM), of the block's first
  std::string tile, next, loads;   ///< names: a_tile, a_next, A_LOADS
  std::string pitch;               ///< row length of the tile: "BM" or "BM + 4"
  std::int64_t width = 0;          ///< value of `outer`
  std::int64_t vector = 1;         ///< elements an access
  bool packed_k = false;           ///< the access runs along k
  std::string access_type;         ///< float4, ...; the element's type for single values
  bool guarded = false;            ///< some accesses lie outside the operand
  std::string condition;
};

[[nodiscard]] inline bool is_byte(std::string_view type) {
  return type == "signed char" || type == "char" || type == "unsigned char" || type == "int8_t" ||
         type == "uint8_t";
}

/// The type of one access of `bytes` bytes (2 to 16) to elements of type `element`.
[[nodiscard]] inline std::string wide_type(std::int64_t bytes, std::string_view element) {
  if (element == "double") return bytes == 16 ? "double2" : "double";
  const bool is_float = element == "float";
  return bytes == 16  ? (is_float ? "float4" : "int4")
         : bytes == 8 ? (is_float ? "float2" : "int2")
         : bytes == 4 ? "int"
                      : "short";
}

}  // namespace warpath
