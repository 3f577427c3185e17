#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plugin/move.h"

namespace warpath {

/// One instance of every registered move, by name.
class MoveTable {
 public:
  explicit MoveTable(const MoveRegistry& registry);
  /// Null if no move has this name.
  [[nodiscard]] const Move* find(std::string_view name) const;
  /// In order.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::map<std::string, std::unique_ptr<const Move>, std::less<>> moves_;
};

/// Parses a handwritten path: steps MOVE[@SITE][(NAME=INTEGER, ...)] separated by semicolons or
/// line feeds; blanks are ignored, "#" begins a comment. Throws Error(bad_input) with `place` and
/// the step.
[[nodiscard]] std::vector<MoveInstance> parse_move_script(std::string_view text,
                                                          std::string_view place);

/// An applied step.
struct AppliedStep {
  MoveInstance instance;  ///< canonical name, site and all parameters
  Variant variant;
};

/// Applies `wanted`, which may omit site and parameters: the first instance enumerated by the move
/// that matches it and applies. If none matches (parameters may have any value of Move::domain),
/// the first one at the site with the given parameters substituted. nullopt with the move's reason
/// in `why`, which then lists the available sites or parameters.
[[nodiscard]] std::optional<AppliedStep> apply_step(const Move& move,
                                                    const MoveContext& context,
                                                    const MoveInstance& wanted,
                                                    std::string& why);

}  // namespace warpath
