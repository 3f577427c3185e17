#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpath {

/// A kernel's source as the engine keeps it: UTF-8 without a byte order mark.
struct SourceText {
  std::string text;
  /// One line for people where the bytes were not taken as they are ("line 3: a comment is not
  /// UTF-8 and is read as Latin-1"); else empty.
  std::string note;
  /// Not empty: the bytes are no source. Then `text` is empty.
  std::string problem;
};

/// Reads bytes as a source. A byte order mark is dropped. Bytes of a comment that are no UTF-8 are
/// taken for Latin-1: what the compiler sees is the same. Elsewhere they are a problem: a literal
/// would change its value.
[[nodiscard]] SourceText source_text(std::string_view bytes);

/// source_text of a file. Throws Error(bad_input) as read_text_file does, and for a problem.
[[nodiscard]] SourceText read_source_file(const std::string& path,
                                          std::size_t max_bytes,
                                          std::string_view place);

/// Most bytes of a source file.
inline constexpr std::size_t kMaxSourceFileBytes = std::size_t{8} << 20U;

}  // namespace warpath
