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

/// Every registered move, made once, by name and by alias.
class MoveTable {
 public:
  explicit MoveTable(const MoveRegistry& registry);
  /// Null if no move has this name or alias.
  [[nodiscard]] const Move* find(std::string_view name_or_alias) const;
  /// Names (no aliases), in order.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Names and aliases, in order.
  [[nodiscard]] std::vector<std::string> all_names() const;

 private:
  std::map<std::string, std::unique_ptr<const Move>, std::less<>> moves_;
  std::map<std::string, const Move*, std::less<>> aliases_;
};

/// A path written by hand: steps MOVE[@SITE][(NAME=INTEGER, ...)] between semicolons or line feeds;
/// blanks count nowhere, "#" begins a comment. Throws Error(bad_input) with `place` and the step.
[[nodiscard]] std::vector<MoveInstance> parse_move_script(std::string_view text,
                                                          std::string_view place);

/// One step as it was carried out.
struct AppliedStep {
  MoveInstance instance;  ///< canonical name, site and all parameters
  Variant variant;
};

/// Carries out `wanted`, which may leave out site and parameters: the first instance that the move
/// enumerates, that agrees with what is given, and that applies. Where none agrees (parameters may
/// have any value of Move::domain), the first at the site takes the given ones in place of its own.
/// nullopt with the move's reason in `why`; it then names the sites or parameters that there are.
[[nodiscard]] std::optional<AppliedStep> apply_step(const Move& move,
                                                    const MoveContext& context,
                                                    const MoveInstance& wanted,
                                                    std::string& why);

}  // namespace warpath
