#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpath::llm {

/// A kernel as a model wrote it out: between two lines that hold the request's nonce,
///
///   ===KERNEL BEGIN <nonce>===
///   a whole source, or SEARCH/REPLACE blocks
///   ===KERNEL END <nonce>===
///   PLAN {"grid": [...], "block": [...]}      (JSON, as in a spec; absent: as before)
///   CLAIM precision=unchanged
struct WrittenKernel {
  std::string text;
  std::string plan;    ///< JSON, unchecked; empty: the parent's
  std::string claims;  ///< never believed: what the gates find counts
};

/// nullopt with one line in `why`: no sentinel, one that never ends, two kernels, nothing between
/// them. A Markdown fence around or inside the sentinels is taken off; what else stands around them
/// is not looked at.
[[nodiscard]] std::optional<WrittenKernel> written_kernel(std::string_view reply,
                                                          std::string_view nonce,
                                                          std::string& why);

}  // namespace warpath::llm
