#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace warpath::llm {

/// A kernel in a model's reply, between two lines with the request's nonce:
///
///   ===KERNEL BEGIN <nonce>===
///   a whole source, or SEARCH/REPLACE blocks
///   ===KERNEL END <nonce>===
///   PLAN {"grid": [...], "block": [...]}      (JSON, as in a spec; absent: as before)
///   CLAIM precision=unchanged
struct WrittenKernel {
  std::string text;
  std::string plan;    ///< JSON, unchecked; empty: the parent's
  std::string claims;  ///< never trusted: the gates decide
};

/// nullopt with one line in `why`: no sentinel, one without an end, two kernels, nothing between
/// them. Strips a Markdown fence around or inside the sentinels; ignores any other surrounding
/// text.
[[nodiscard]] std::optional<WrittenKernel> written_kernel(std::string_view reply,
                                                          std::string_view nonce,
                                                          std::string& why);

}  // namespace warpath::llm
