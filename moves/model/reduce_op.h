#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpath::model {

/// What combines the values of a reduction.
enum class ReduceOp : std::uint8_t {
  add,
  multiply,
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or
};
[[nodiscard]] std::string_view name(ReduceOp op);
/// The operator's neutral element as a literal of the type: "0.0f", "-INFINITY", "1"; empty if
/// there is none.
[[nodiscard]] std::string identity_text(ReduceOp op, std::string_view type);
/// Combines two operands as C text: "a + b", "fmaxf(a, b)".
[[nodiscard]] std::string combine_text(ReduceOp op,
                                       std::string_view type,
                                       std::string_view a,
                                       std::string_view b);

}  // namespace warpath::model
