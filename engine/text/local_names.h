#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/tokens.h"

namespace warpath {

using NameSet = std::set<std::string, std::less<>>;

/// A token list with what every scan of it needs. Comments are left out.
struct CodeText {
  /// Keeps a view of `source`.
  explicit CodeText(std::string_view source);
  std::string_view source;
  std::vector<Token> tokens;
  std::vector<std::string> text;  ///< spelling of each token
  /// of each bracket ( [ {: its partner, both ways; own index elsewhere
  std::vector<std::size_t> match;
  bool balanced = false;   ///< every bracket has its partner, none cross
  bool ambiguous = false;  ///< TokenStream::ambiguous
  [[nodiscard]] bool is(std::size_t at, std::string_view spelled) const {
    return at < text.size() && text[at] == spelled;
  }
  [[nodiscard]] bool is_name(std::size_t at) const {
    return at < tokens.size() && tokens[at].kind == TokenKind::identifier;
  }
};

/// Names that a file uses where they are not local: `outside` holds all identifiers outside
/// function definitions, in preprocessor lines and in compiler options; `macros`, a part of it,
/// those of the last two.
struct SharedNames {
  NameSet macros;
  NameSet outside;
};

/// A function definition at namespace level: tokens [open, end) run from the "(" of its parameters
/// to behind its "}".
struct FunctionText {
  std::size_t name = 0;  ///< token of its name
  std::size_t open = 0;  ///< "(" of the parameter list
  std::size_t body = 0;  ///< "{"
  std::size_t end = 0;   ///< behind "}"
};

/// Function definitions whose shape leaves no doubt, in order; macros that look like one are left
/// out when `macro_names` holds their name. Empty if brackets do not balance.
[[nodiscard]] std::vector<FunctionText> find_functions(const CodeText& code,
                                                       const NameSet& macro_names);

/// True for the keywords of C++20 and CUDA, alternative operators (`and`) included.
[[nodiscard]] bool is_keyword(std::string_view word);
/// Types, variables and qualifiers that CUDA predefines or its headers declare under plain names
/// (float4, half, warpSize).
[[nodiscard]] bool is_cuda_name(std::string_view word);

/// True if token `at` stands behind `.` or `->`: no variable, whatever its name.
[[nodiscard]] bool is_member(const CodeText& code, std::size_t at);

/// Names that are provably nothing but parameters and local variables of `function`: each
/// occurrence in it but members is a declaration or lies in the scope of one, and none could mean
/// something else (a callee, a type, a label, a macro, a linkage name). In doubt a name is left
/// out. Time n log n in the function's length.
[[nodiscard]] NameSet local_names(const CodeText& code,
                                  const FunctionText& function,
                                  const SharedNames& shared);

}  // namespace warpath
