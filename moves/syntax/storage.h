#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <memory_resource>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/text/tokens.h"
#include "moves/syntax/unit.h"

namespace warpath::model {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// A token for the parser: without comments, directives and text excluded by conditionals.
struct Lexeme {
  TokenKind kind = TokenKind::other;
  bool first_on_line = false;
  std::string_view text;  ///< as the compiler sees it
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t match = kNone;  ///< index of the matching bracket
};

/// A preprocessor line before lexeme `before`.
struct DirectiveLine {
  std::size_t before = 0;
  Span span;
  std::string_view name;
  bool unresolved = false;  ///< a conditional that depends on unknown names
};

/// The data owned by a Unit. Tree nodes are in `arena` and are trivially destructible.
struct Unit::Storage {
  std::string source;
  ParseOptions options;
  std::pmr::monotonic_buffer_resource arena{1U << 15U};
  bool ambiguous = false;
  std::vector<Lexeme> lexemes;
  std::vector<DirectiveLine> directives;
  std::vector<const Function*> functions;
  std::vector<const Declarator*> globals;
  std::vector<Macro> macros;
  std::vector<Conditional> conditionals;
  std::vector<Span> opaque;
  std::set<std::string_view> types;  ///< names of types that the file declares
  std::map<std::string_view, std::string>
      aliases;  ///< using A = B, typedef B A, bound template parameters
  Bindings constants;
  std::map<std::string, std::unique_ptr<Unit>, std::less<>>
      macro_units;                                 ///< bodies parsed for analysis
  std::set<std::string, std::less<>> identifiers;  // computed on first use

  template <class T>
  [[nodiscard]] T* make() {
    static_assert(std::is_trivially_destructible_v<T>);
    return std::construct_at(static_cast<T*>(arena.allocate(sizeof(T), alignof(T))));
  }
  template <class T>
  [[nodiscard]] std::span<T const> keep(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty()) return {};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may be a pointer
    T* const out = static_cast<T*>(arena.allocate(sizeof(T) * items.size(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), out);
    return {out, items.size()};
  }
  [[nodiscard]] std::string_view keep(std::string_view text) {
    char* const out = static_cast<char*>(arena.allocate(text.size() + 1, 1));
    text.copy(out, text.size());
    return {out, text.size()};
  }
};

/// Fills lexemes, directives, macros and conditionals from `source`.
void preprocess(Unit::Storage& storage);

/// An element of an integer expression for evaluate_lexemes.
struct Word {
  TokenKind kind = TokenKind::other;
  std::string text;
};
/// Meaning of a name: a number, nothing (0 in a condition), or unknown.
struct NameValue {
  enum class Kind : std::uint8_t { number, undefined, unknown } kind = Kind::unknown;
  std::int64_t value = 0;
};
/// Value of a preprocessor or macro expression; nullopt if it is malformed or a name in it is
/// unknown. `defined` decides `defined(X)`; nullopt: unknown.
[[nodiscard]] std::optional<std::int64_t> evaluate_words(
    const std::vector<Word>& words,
    const std::function<NameValue(const std::string&)>& value_of,
    const std::function<std::optional<bool>(const std::string&)>& defined);

/// Applies a binary operator of C++ to 64-bit integers; nullopt for overflow, division by zero, an
/// invalid shift and unknown operators.
[[nodiscard]] std::optional<std::int64_t> apply_integer(std::string_view op,
                                                        std::int64_t a,
                                                        std::int64_t b);
/// Sorted, without spans nested in others.
[[nodiscard]] std::vector<Span> outermost(std::vector<Span> spans);

/// Precedence of a binary operator, 2 (||) to 12 (.*); 0 for others.
[[nodiscard]] int precedence(std::string_view op);
/// Prefix operators.
[[nodiscard]] bool is_prefix(std::string_view op);
[[nodiscard]] bool is_assignment(std::string_view op);

/// Words of built-in types: int, unsigned, float, auto, ...
[[nodiscard]] bool is_builtin_type_word(std::string_view word);
/// const, static, __shared__, ...: the bit, 0 if it is none.
[[nodiscard]] std::uint32_t qualifier_bit(std::string_view word);
/// Qualifiers and attributes of a type or function that are irrelevant to the model.
[[nodiscard]] bool is_ignored_word(std::string_view word);
/// Attribute words followed by ( ... ).
[[nodiscard]] bool is_parenthesised_attribute(std::string_view word);
/// Type names of CUDA and the C and C++ libraries without reserved prefix.
[[nodiscard]] bool is_library_type(std::string_view word);
/// A keyword that can be neither a type nor a variable: if, for, return, operator, ...
[[nodiscard]] bool is_statement_word(std::string_view word);
/// True for a name without lower-case letters, with a capital and at least two characters: a macro
/// by convention.
[[nodiscard]] bool looks_like_macro(std::string_view word);

}  // namespace warpath::model
