#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/local_names.h"

namespace warpath {

/// Replaces source[begin, end) by `text`; begin == end inserts.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

/// Edits of one source overlap: a move that makes such ones does not see through the kernel, and
/// what they would leave is nobody's text.
class ConflictingEdits : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `source` with all edits made; every other byte is kept. Edits may come in any order and must not
/// overlap (ConflictingEdits); a text that begins with a directive starts a line; insertions at one
/// place keep their order and come before what is replaced there.
[[nodiscard]] std::string edited(std::string_view source, std::vector<Edit> edits);

/// The definition that `kernel_name` ("k", "space::k", "k<float, 4>") launches; nullopt if there is
/// none or more than one.
[[nodiscard]] std::optional<FunctionText> find_kernel(const CodeText& code,
                                                      std::string_view kernel_name);

/// Value of an integer literal token: decimal, hexadecimal, binary, octal; digit separators;
/// suffixes u, l, ll, z. nullopt for anything else and beyond 64 bits.
[[nodiscard]] std::optional<std::int64_t> integer_value(std::string_view literal);

/// Values of all integer literals of the file, those in preprocessor lines included.
[[nodiscard]] std::vector<std::int64_t> integer_literals(const CodeText& code);

/// "\r\n" if the source's first line ends so, else "\n".
[[nodiscard]] std::string_view line_end(std::string_view source);

/// Adds edits that put `indent` before each line of [begin, end) that is not empty; `begin` counts
/// as the start of one.
void indent_lines(std::string_view source,
                  std::size_t begin,
                  std::size_t end,
                  std::string_view indent,
                  std::vector<Edit>& edits);

/// First byte of the line that holds byte `at`.
[[nodiscard]] std::size_t line_begin(std::string_view source, std::size_t at);

}  // namespace warpath
