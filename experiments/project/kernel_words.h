#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/text/tokens.h"

namespace warpath {

/// The tokens of a text, without comments and directives.
class Words {
 public:
  explicit Words(std::string_view source) : source_(source) {
    for (const Token& token : tokenize(source).tokens) {
      if (token.kind != TokenKind::comment && token.kind != TokenKind::directive)
        tokens_.push_back(token);
    }
  }
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  [[nodiscard]] const Token& operator[](std::size_t i) const { return tokens_[i]; }
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? source_.substr(tokens_[i].begin, tokens_[i].size())
                              : std::string_view{};
  }
  [[nodiscard]] bool is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::identifier;
  }
  /// The bracket that closes the one at `open`.
  [[nodiscard]] std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const std::string_view word = text(i);
      if (word == "{" || word == "(" || word == "[") ++depth;
      if ((word == "}" || word == ")" || word == "]") && --depth == 0) return i;
    }
    return tokens_.size();
  }

 private:
  std::string_view source_;
  std::vector<Token> tokens_;
};

}  // namespace warpath
