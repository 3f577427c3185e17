#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "engine/base/hash.h"

namespace warpath {

/// Parameters of a move as written in records: names to integers.
using MoveParameters = std::map<std::string, std::int64_t, std::less<>>;

/// The move that gives a tunable of the spec another value.
inline constexpr std::string_view kSetTunable = "set_tunable";

/// (move, site, parameters): the label of an edge. `site` is where in the variant it applies
/// ("launch", "loop:2", "argument:x", "tunable:TILE"), in terms that stay valid for equal sources;
/// empty = the whole kernel. A choice that is no number (a form, an order) is a number too;
/// Move::domain names its values in the help.
struct MoveInstance {
  std::string move;
  std::string site;
  MoveParameters parameters;
  auto operator<=>(const MoveInstance&) const = default;
  /// "change_block_sizes@launch(block_x=128)"; "@" and the parentheses only where there is a site,
  /// a parameter. Bytes of the move or site outside [A-Za-z0-9_.:/<>*+-] are written %XX.
  [[nodiscard]] std::string text() const;
  /// The instance that `text` was made from. Throws Error(bad_input) with `place`.
  [[nodiscard]] static MoveInstance parse(std::string_view text, std::string_view place);
  [[nodiscard]] Hash128 key() const;
};

/// Names separated by commas; blanks do not count.
[[nodiscard]] std::set<std::string, std::less<>> move_names(std::string_view text);

}  // namespace warpath
