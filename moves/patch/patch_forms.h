#pragma once

#include <optional>
#include <string>

#include "moves/patch/patch_lines.h"

/// The forms that change parts of a source. Results as for apply_patch (moves/patch/patch.h).
namespace warpath::patch {

/// Maximum number of blocks or hunks of a patch.
inline constexpr std::size_t kMostPieces = 256;

[[nodiscard]] std::optional<LineText> apply_blocks(LineText source,
                                                   const Lines& patch,
                                                   std::string& why);
[[nodiscard]] std::optional<LineText> apply_unified(LineText source,
                                                    const Lines& patch,
                                                    std::string& why);

/// "<<<<<<< SEARCH": at least five "<", then the word.
[[nodiscard]] bool begins_block(const std::string& line);
/// "@@ -12,7 +12,9 @@" or "@@".
[[nodiscard]] bool begins_hunk(const std::string& line);

}  // namespace warpath::patch
