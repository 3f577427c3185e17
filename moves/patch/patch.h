#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpath {

/// The ways in which a text from elsewhere can say what a source shall become.
enum class PatchForm : std::uint8_t {
  whole,    ///< the new source itself
  blocks,   ///< SEARCH/REPLACE blocks
  unified,  ///< unified diff of one file
};

inline constexpr std::size_t kMaxPatchBytes = std::size_t{1} << 20U;

/// Blocks where a line is "<<<<<<< SEARCH", a diff where one begins with "@@ -" or "--- " before
/// "+++ ", else a whole source.
[[nodiscard]] PatchForm patch_form(std::string_view text);

/// `source` as `text` changes it; nullopt with one line in `why`: which block or hunk, which of its
/// lines, what was expected there, and what the source has. A text in one Markdown fence (```) is
/// taken out of it. Line ends are those of the source.
///
/// - whole: must define a `__global__` function.
/// - blocks, each on what the one before left: lines between "<<<<<<< SEARCH", "=======" and
/// ">>>>>>> REPLACE". The lines to search must
///   stand at one place: exactly; else but for blanks at line ends; else but for the amount of
///   blanks anywhere, and then the replacement is indented as the place is.
/// - unified: hunks in order, compared as blocks are. Where a hunk does not fit at its line, it
/// goes to the one other place where it
///   fits; else up to kMaxFuzz lines of context at either end are left out of the comparison, and
///   again there must be one place. Counts in hunk headers may be wrong.
///
/// A result that is the source itself is refused. Takes time in proportion to the source's size
/// times the number of blocks or hunks (256 at most); no text crashes it.
[[nodiscard]] std::optional<std::string> apply_patch(std::string_view source,
                                                     std::string_view text,
                                                     std::string& why);

inline constexpr std::size_t kMaxFuzz = 2;

}  // namespace warpath
