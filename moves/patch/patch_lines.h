#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Shared by the forms of patches: texts as lines, and searching for a run of lines.
namespace warpath::patch {

using Lines = std::vector<std::string>;

/// Without line ends; "a\n" is one line. A carriage return before a line feed is part of the end.
[[nodiscard]] Lines split_lines(std::string_view text);

/// A source as lines, and their line ends.
struct LineText {
  Lines lines;
  std::string end = "\n";
  bool last_ends = true;  ///< the last line has a line end too
  [[nodiscard]] static LineText of(std::string_view text);
  [[nodiscard]] std::string text() const;
};

/// How two lines are compared; each kind is more lenient than the one before.
enum class Likeness : std::uint8_t { exact, trailing_blanks, all_blanks };
inline constexpr Likeness kLikenesses[] = {Likeness::exact, Likeness::trailing_blanks,
                                           Likeness::all_blanks};

/// Result of searching for a run of lines.
struct Search {
  /// first lines, ascending, all of one likeness: the strictest with any match
  std::vector<std::size_t> places;
  Likeness likeness = Likeness::exact;
  /// no places: the longest matching prefix of the wanted lines, ...
  std::size_t longest = 0;
  std::size_t longest_at = 0;  ///< ... and where it is, compared by all_blanks
};

/// Searches for `wanted` (not empty) in text[from, ...). Linear.
[[nodiscard]] Search find_lines(std::span<const std::string> text,
                                std::span<const std::string> wanted,
                                std::size_t from = 0);

/// Why there is no match: names the first missing line and what is there instead. `what`: "block
/// 2"; `first`: number of wanted[0] within it.
[[nodiscard]] std::string missing_text(std::string_view what,
                                       std::span<const std::string> text,
                                       std::span<const std::string> wanted,
                                       const Search& search,
                                       std::size_t first = 1);
/// "3, 18 and 40", counted from 1, at most five.
[[nodiscard]] std::string places_text(const std::vector<std::size_t>& places);
/// The line in quotes, truncated to 60 characters, without control characters.
[[nodiscard]] std::string in_quotes(std::string_view line);

/// The leading blanks of `line`.
[[nodiscard]] std::string_view indent_of(std::string_view line);
/// Moves `lines` from indent `from` to indent `to`: replaces the prefix `from` by `to`.
[[nodiscard]] Lines reindented(Lines lines, std::string_view from, std::string_view to);

}  // namespace warpath::patch
