#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpath::host {

struct Token {
  enum class Kind : std::uint8_t { identifier, number, text, punctuation, space, newline };
  Kind kind = Kind::space;
  std::string_view text;  ///< into Lexed::clean
  int line = 1;           ///< of the original source
};

/// A source after line splicing, with comments blanked and digraphs spelled out.
struct Lexed {
  std::string clean;          ///< the text that the tokens refer to
  std::vector<Token> tokens;  ///< cover `clean` without gaps
  std::string problem;        ///< unterminated comment, string or character; empty if none
};

/// On the heap, since the tokens refer to it.
[[nodiscard]] std::unique_ptr<const Lexed> lex(std::string_view source);

}  // namespace warpath::host
