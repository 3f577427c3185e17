#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpath {

/// The forms in which a text can specify the new source.
enum class PatchForm : std::uint8_t {
  whole,    ///< the new source itself
  blocks,   ///< SEARCH/REPLACE blocks
  unified,  ///< unified diff of one file
};

inline constexpr std::size_t kMaxPatchBytes = std::size_t{1} << 20U;

/// Blocks if a line is "<<<<<<< SEARCH"; a diff if one begins with "@@ -", or with "--- " before
/// "+++ "; otherwise a whole source.
[[nodiscard]] PatchForm patch_form(std::string_view text);

/// Applies `text` to `source`; nullopt with one line in `why`: which block or hunk, which of its
/// lines, what was expected there, and what the source contains. A text in one Markdown fence (```)
/// is unwrapped. Line ends are those of the source.
///
/// - whole: must define a kernel in the language of the source (`__global__`, `@triton.jit`,
/// `.entry`).
/// - blocks, applied in sequence: lines between "<<<<<<< SEARCH", "=======" and ">>>>>>> REPLACE".
/// The
///   searched lines must match at one place: exactly; failing that, ignoring trailing white space;
///   failing that, ignoring the amount of white space, and then the replacement is re-indented.
/// - unified: hunks in order, compared like blocks. A hunk that does not match at its line is
/// applied
///   at the only other place where it does; failing that, up to kMaxFuzz context lines at either
///   end are ignored, and again the place must be unique. Counts in hunk headers may be wrong.
///
/// A result equal to the source is rejected. Takes time proportional to the source's size
/// times the number of blocks or hunks (256 at most); safe on any text.
[[nodiscard]] std::optional<std::string> apply_patch(std::string_view source,
                                                     std::string_view text,
                                                     std::string& why);

inline constexpr std::size_t kMaxFuzz = 2;

}  // namespace warpath
