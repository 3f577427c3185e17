#pragma once

#include <optional>
#include <string>
#include <vector>

#include "moves/tiles/contraction_parts.h"

namespace warpath {

/// name < text.
struct UpperBound {
  std::string name;
  std::string text;
  /// over names of the launch plan; empty if impossible
  std::string launch_text;
  std::optional<std::int64_t> size;
  model::Polynomial value;
};

struct AxisPart {
  ContractionAxis axis;
  std::vector<std::size_t> launch_axes;  ///< that its value is made of
  model::Polynomial extent = model::Polynomial::unknown();
};

/// Variables computed from block and thread indices that enumerate outputs; `parts` knows them from
/// then on.
[[nodiscard]] std::vector<AxisPart> contraction_axes(ContractionParts& parts);
[[nodiscard]] std::optional<UpperBound> upper_bound(const ContractionParts& parts,
                                                    const Condition& condition);
/// True if axes already imply it: i < M * N if the axes are i / N and i % N.
[[nodiscard]] bool is_used_up(const ContractionParts& parts, const Condition& condition);
/// True if it only says that an index is not negative.
[[nodiscard]] bool lower_bound_only(const ContractionParts& parts,
                                    const Condition& condition,
                                    const std::vector<AxisPart>& axes);

}  // namespace warpath
