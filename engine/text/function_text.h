#pragma once

#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/tokens.h"

namespace warpath {

using NameSet = std::set<std::string, std::less<>>;

/// A token list with its bracket structure. Comments are left out.
struct CodeText {
  /// Keeps a view of `source`.
  explicit CodeText(std::string_view source);
  CodeText(const CodeText&) = delete;  // spellings refer to it
  CodeText& operator=(const CodeText&) = delete;
  CodeText(CodeText&&) noexcept = default;
  CodeText& operator=(CodeText&&) noexcept = default;
  ~CodeText() = default;
  std::string_view source;
  std::vector<Token> tokens;
  std::vector<std::string_view> text;  ///< spelling of each token, which lives as long as both
  /// of each bracket ( [ {: index of its partner; of other tokens their own index
  std::vector<std::size_t> match;
  bool balanced = false;              ///< all brackets are matched and properly nested
  bool ambiguous = false;             ///< TokenStream::ambiguous
  std::deque<std::string> respelled;  ///< what the source has in another form
  [[nodiscard]] bool is(std::size_t at, std::string_view spelled) const {
    return at < text.size() && text[at] == spelled;
  }
  [[nodiscard]] bool is_name(std::size_t at) const {
    return at < tokens.size() && tokens[at].kind == TokenKind::identifier;
  }
};

/// A function definition at namespace level: tokens [open, end) extend from the "(" of its
/// parameters past its "}".
struct FunctionText {
  std::size_t name = 0;  ///< token of its name
  std::size_t open = 0;  ///< "(" of the parameter list
  std::size_t body = 0;  ///< "{"
  std::size_t end = 0;   ///< past "}"
};

/// Unambiguous function definitions, in order; macro calls that look like one are excluded if
/// `macro_names` contains their name. Empty if brackets do not balance.
[[nodiscard]] std::vector<FunctionText> find_functions(const CodeText& code,
                                                       const NameSet& macro_names);

/// True for the keywords of C++20 and CUDA, alternative operators (`and`) included.
[[nodiscard]] bool is_keyword(std::string_view word);
/// Types, variables and qualifiers that CUDA predefines or its headers declare without reserved
/// prefix (float4, half, warpSize).
[[nodiscard]] bool is_cuda_name(std::string_view word);

/// True if token `at` follows `.` or `->`, and hence is not a variable.
[[nodiscard]] bool is_member(const CodeText& code, std::size_t at);

}  // namespace warpath
