#pragma once

#include <optional>
#include <string>
#include <vector>

#include "moves/tiles/contraction_axes.h"

namespace warpath {

/// The search for the group of a row, where groups have rows of their own number.
struct RaggedGroups {
  std::optional<ContractionGroups> groups;
  std::string axis;  ///< whose rows they are
};

/// Recognises the search for a ragged group. False only if there is one that is not understood.
[[nodiscard]] bool find_groups(ContractionParts& parts,
                               const std::vector<AxisPart>& axes,
                               RaggedGroups& out,
                               std::string& why);

}  // namespace warpath
