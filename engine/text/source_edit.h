#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/function_text.h"

namespace warpath {

/// Replaces source[begin, end) by `text`; begin == end inserts.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// Thrown for overlapping edits of one source: the move that made them misunderstood the kernel, so
/// the result would be meaningless.
class ConflictingEdits : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Applies all edits to `source`; all other bytes are preserved. Edits may be in any order and must
/// not overlap (ConflictingEdits). A text that begins with a directive starts on a new line.
/// Insertions at the same place keep their order and precede a replacement there.
[[nodiscard]] std::string edited(std::string_view source, std::vector<Edit> edits);

/// The definition launched as `kernel_name` ("k", "space::k", "k<float, 4>"); nullopt unless there
/// is exactly one.
[[nodiscard]] std::optional<FunctionText> find_kernel(const CodeText& code,
                                                      std::string_view kernel_name);

/// Value of an integer literal token: decimal, hexadecimal, binary, octal; digit separators;
/// suffixes u, l, ll, z. nullopt for anything else or more than 64 bits.
[[nodiscard]] std::optional<std::int64_t> integer_value(std::string_view literal);

/// Values of all integer literals of the file, including preprocessor lines.
[[nodiscard]] std::vector<std::int64_t> integer_literals(const CodeText& code);

/// "\r\n" if the source's first line ends with it, otherwise "\n".
[[nodiscard]] std::string_view line_end(std::string_view source);

/// Adds edits that insert `indent` before each non-empty line of [begin, end) that does not begin
/// within what one of `edits` replaces; `begin` counts as the start of a line.
void indent_lines(std::string_view source,
                  std::size_t begin,
                  std::size_t end,
                  std::string_view indent,
                  std::vector<Edit>& edits);

/// Offset of the first byte of the line that contains byte `at`.
[[nodiscard]] std::size_t line_begin(std::string_view source, std::size_t at);

}  // namespace warpath
