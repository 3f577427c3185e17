#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::python {

enum class TokenKind : std::uint8_t { name, number, string, op, line_end };

/// source[begin, end); comments and blanks are none.
struct Token {
  TokenKind kind = TokenKind::op;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The tokens of a Python text, each logical line closed by a line_end; false with `why` if they
/// are not certain.
[[nodiscard]] bool tokenize(std::string_view source, std::vector<Token>& tokens, std::string& why);

}  // namespace warpath::python
