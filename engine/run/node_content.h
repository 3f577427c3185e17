#pragma once

#include <string>
#include <string_view>

#include "engine/plugin/move_instance.h"
#include "engine/spec/variant_patch.h"

namespace warpath {

/// What made a node of its parent, as it is kept of every node: a hundred bytes or so.
struct NodeContent {
  MoveInstance instance;
  VariantEdit edit;
  bool operator==(const NodeContent&) const = default;
};
/// Lossless.
[[nodiscard]] std::string packed(const NodeContent& content);
/// Throws Error(bad_input) naming `place` if `bytes` are not of this kind.
[[nodiscard]] NodeContent unpacked(std::string_view bytes, const std::string& place);

}  // namespace warpath
