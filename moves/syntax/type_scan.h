#pragma once

#include <cstddef>
#include <set>
#include <string_view>

#include "moves/syntax/lexemes.h"

namespace warpath::model {

/// Whether a type or a declaration starts at a lexeme, in bounded lookahead, by what is declared so
/// far. A base of the parser.
class TypeLookahead : protected Lexemes {
 protected:
  explicit TypeLookahead(Unit::Storage& storage) : Lexemes(storage) {}

  /// End of a type that starts at `at`: past its words, stars and brackets; kNone if there is none.
  struct TypeScan {
    std::size_t end = kNone;
    bool certain = false;  ///< built-in, known or marked by typename, not just a name
    bool pointer = false;
  };
  [[nodiscard]] TypeScan scan_type(std::size_t at) const;
  [[nodiscard]] std::size_t behind_type_function(std::size_t at) const;
  [[nodiscard]] bool is_pointer_macro(std::size_t at) const;
  [[nodiscard]] std::size_t scan_name(std::size_t at, bool in_type) const;
  [[nodiscard]] std::size_t template_close(std::size_t open, bool in_type) const;
  [[nodiscard]] bool starts_declaration(std::size_t at) const;
  [[nodiscard]] bool is_known_type(std::size_t from, std::size_t end) const;

  std::set<std::string_view> variables_;  // declared anywhere so far: (name)(x) is then not a cast
  std::set<std::string_view> templates_;  // functions and classes with a template head
  static constexpr std::size_t kMaxLook = 256;  // lexemes of a template argument list
};

/// struct, class, union, enum.
[[nodiscard]] bool is_class_word(std::string_view word);
/// decltype and its spellings.
[[nodiscard]] bool is_type_function(std::string_view word);
/// *, & or &&.
[[nodiscard]] bool is_star(std::string_view word);

}  // namespace warpath::model
