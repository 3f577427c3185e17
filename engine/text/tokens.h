#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

enum class TokenKind : std::uint8_t {
  identifier,  ///< including keywords, bytes >= 0x80, `$` and universal character names
  number,      ///< preprocessing number: 1.0f, 0x1.8p-3, 1'000u, 0b11
  string,      ///< including prefix, raw form and user-defined suffix
  character,   ///< including prefix and suffix
  punctuator,  ///< longest match, including <<< and >>> of kernel launches
  directive,   ///< a whole preprocessor line with its continuations, without the line end
  comment,
  other,  ///< a byte that starts no token (\, `, control bytes, a lone quote)
};

/// A token: source[begin, end). White space occurs only between tokens.
struct Token {
  TokenKind kind = TokenKind::other;
  bool space_before = false;  ///< white space or a comment precedes it
  /// contains a line splice (backslash, line end), which is not part of its spelling
  bool spliced = false;
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// All tokens of a CUDA C++ text in order, comments and directives included.
struct TokenStream {
  std::vector<Token> tokens;
  /// Compilers disagree on the tokenisation, or it is impossible: a trigraph, a splice with blanks
  /// between backslash and line end, a lone carriage return, a NUL, an unterminated comment or raw
  /// string.
  bool ambiguous = false;
};

/// Tokenises any bytes. Never fails; linear time. Trigraphs are not replaced (C++17); digraphs are
/// kept as written.
[[nodiscard]] TokenStream tokenize(std::string_view source);

/// The tokens of a directive of `source`, from its `#`; offsets are relative to `source`. A header
/// name in angle brackets is one string token.
[[nodiscard]] TokenStream tokenize_directive(std::string_view source, const Token& directive);

/// The token as the compiler sees it: without splices (except in raw strings), digraphs replaced by
/// their primary form.
[[nodiscard]] std::string spelling(std::string_view source, const Token& token);

/// The spelling is the token's bytes.
[[nodiscard]] bool is_spelled_as_written(std::string_view source, const Token& token);

/// `tokens` without comments.
[[nodiscard]] std::vector<Token> without_comments(const std::vector<Token>& tokens);

/// Name of a directive ("pragma", "define", "if"); empty for the null directive.
[[nodiscard]] std::string directive_name(std::string_view source, const Token& directive);

}  // namespace warpath
