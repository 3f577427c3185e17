#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpath {

/// A kernel's source in the engine's form: UTF-8 without a byte order mark.
struct SourceText {
  std::string text;
  /// One line if the bytes were interpreted leniently ("line 3: a comment is not UTF-8 and is read
  /// as Latin-1"); otherwise empty.
  std::string note;
  /// Not empty: the bytes are not a source, and `text` is empty.
  std::string problem;
};

/// Decodes bytes as a source. Drops a byte order mark. Bytes of a comment that are not UTF-8 are
/// read as Latin-1, which makes no difference to the compiler; elsewhere they are a problem, since
/// a literal would change its value.
[[nodiscard]] SourceText source_text(std::string_view bytes);

/// source_text of a file. Throws Error(bad_input) as read_text_file, and for a problem.
[[nodiscard]] SourceText read_source_file(const std::string& path,
                                          std::size_t max_bytes,
                                          std::string_view place);

/// Maximum size of a source file.
inline constexpr std::size_t kMaxSourceFileBytes = std::size_t{8} << 20U;

}  // namespace warpath
