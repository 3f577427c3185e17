#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the forms of patches share: texts as lines, and where a run of lines stands in them.
namespace warpath::patch {

using Lines = std::vector<std::string>;

/// Without line ends; "a\n" is one line. A carriage return before a line feed belongs to the end.
[[nodiscard]] Lines split_lines(std::string_view text);

/// A source as lines, and how they end.
struct LineText {
  Lines lines;
  std::string end = "\n";
  bool last_ends = true;  ///< the last line has an end too
  [[nodiscard]] static LineText of(std::string_view text);
  [[nodiscard]] std::string text() const;
};

/// How two lines are compared; each accepts more than the one before.
enum class Likeness : std::uint8_t { exact, trailing_blanks, all_blanks };
inline constexpr Likeness kLikenesses[] = {Likeness::exact, Likeness::trailing_blanks,
                                           Likeness::all_blanks};

/// Where a run of lines was looked for.
struct Search {
  /// first lines, ascending, all of one likeness: the strictest under which there are any
  std::vector<std::size_t> places;
  Likeness likeness = Likeness::exact;
  /// no places: so many of the wanted lines, from the first on, ...
  std::size_t longest = 0;
  std::size_t longest_at = 0;  ///< ... stand here, compared by all_blanks
};

/// Looks for `wanted` (not empty) in text[from, ...). Linear.
[[nodiscard]] Search find_lines(std::span<const std::string> text,
                                std::span<const std::string> wanted,
                                std::size_t from = 0);

/// Why there is no place: names the first wanted line that is missing and what stands there
/// instead. `what`: "block 2"; `first`: number of wanted[0] within it.
[[nodiscard]] std::string missing_text(std::string_view what,
                                       std::span<const std::string> text,
                                       std::span<const std::string> wanted,
                                       const Search& search,
                                       std::size_t first = 1);
/// "3, 18 and 40", counted from 1, at most five.
[[nodiscard]] std::string places_text(const std::vector<std::size_t>& places);
/// The line between quotes, cut at 60 characters, without control characters.
[[nodiscard]] std::string in_quotes(std::string_view line);

/// The blanks that `line` begins with.
[[nodiscard]] std::string_view indent_of(std::string_view line);
/// `lines` moved from the indent `from` to the indent `to`: lines that begin with `from` begin with
/// `to` instead.
[[nodiscard]] Lines reindented(Lines lines, std::string_view from, std::string_view to);

}  // namespace warpath::patch
