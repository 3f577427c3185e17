#pragma once

#include <cstdint>
#include <limits>

namespace warpath {

/// Index of a node or an edge in its arena. Strong types; the values are persisted.
enum class NodeId : std::uint32_t {};
enum class EdgeId : std::uint32_t {};
inline constexpr NodeId kNoNode{std::numeric_limits<std::uint32_t>::max()};
inline constexpr EdgeId kNoEdge{std::numeric_limits<std::uint32_t>::max()};
[[nodiscard]] constexpr std::uint32_t index(NodeId id) {
  return static_cast<std::uint32_t>(id);
}
[[nodiscard]] constexpr std::uint32_t index(EdgeId id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace warpath
