#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/expression.h"
#include "engine/spec/variant.h"
#include "moves/syntax/syntax.h"

namespace warpath::model {

struct Macro {
  std::string_view name;
  Span span;  ///< the whole directive
  bool function_like = false;
  std::vector<std::string> parameters;
  std::string body;  ///< replacement, splices and comments removed
  std::optional<std::int64_t>
      value;  ///< of an object-like macro that is an integer constant expression
};

/// One #if .. #endif group, or a branch of it that is not taken.
struct Conditional {
  Span directive;      ///< the #if, #ifdef, #elif, #else line
  Span branch;         ///< the text it governs
  bool taken = false;  ///< parsed; a branch that is not taken has no nodes
  bool known = true;   ///< false: the condition depends on names that the file does not set
};

/// Parameters of parsing that are not in the text.
struct ParseOptions {
  /// values of names given by -D: tunables, macros of the options, compile-time scalars of the spec
  Bindings bindings;
  /// names given by -D whose value is not an integer, or differs between workloads
  std::set<std::string, std::less<>> defined = {};
  std::string kernel_name;  ///< name expression ("k<float, 4>") that binds its template parameters
};

/// A parsed translation unit. Owns text and tree; pointers into it are valid until it is destroyed,
/// even if it is moved.
class Unit {
 public:
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  Unit(Unit&&) noexcept;
  Unit& operator=(Unit&&) noexcept;
  ~Unit();

  [[nodiscard]] std::string_view source() const;
  [[nodiscard]] std::string_view text(Span span) const;
  [[nodiscard]] std::string_view text(const Expr& expr) const { return text(expr.span); }
  [[nodiscard]] std::string_view text(const Stmt& stmt) const { return text(stmt.span); }
  /// The span's text on one line: runs of blanks and comments become one space.
  [[nodiscard]] std::string plain_text(Span span) const;

  [[nodiscard]] std::span<const Function* const> functions() const;
  [[nodiscard]] std::span<const Declarator* const> globals()
      const;  ///< variables at file or namespace level
  [[nodiscard]] std::span<const Macro> macros() const;
  [[nodiscard]] std::span<const Conditional> conditionals() const;
  [[nodiscard]] std::span<const Span> opaque() const;  ///< all opaque spans, in order
  [[nodiscard]] bool ambiguous() const;  ///< TokenStream::ambiguous: no move may touch the text
  [[nodiscard]] const Macro* macro(std::string_view name) const;
  /// The expression of a function-like macro, over its parameters, for analysis only: its spans do
  /// not refer to this unit. Null if there is none or it is not understood. Parsed on first use;
  /// not thread-safe.
  [[nodiscard]] const Expr* macro_expression(std::string_view name) const;
  /// Every identifier of the text, including those in directives. Collected on first use; not
  /// thread-safe.
  [[nodiscard]] const std::set<std::string, std::less<>>& identifiers() const;
  /// The definition launched as `kernel_name` ("k", "space::k", "k<float, 4>"); null unless there
  /// is exactly one.
  [[nodiscard]] const Function* find_kernel(std::string_view kernel_name) const;
  [[nodiscard]] const Function* find_function(
      std::string_view name) const;  ///< the only definition; otherwise null
  [[nodiscard]] bool is_type_name(std::string_view name) const;
  /// The type's words after substituting the template parameters bound by the kernel name and
  /// following `using A = B;`.
  [[nodiscard]] std::string resolved_type(std::string_view words) const;
  /// Integer constants by name: macros, constexpr and const variables at file level,
  /// ParseOptions::bindings and template arguments of the kernel name.
  [[nodiscard]] const Bindings& constants() const;
  [[nodiscard]] const Bindings& bindings() const;  ///< those of ParseOptions alone
  /// by ParseOptions, with or without a value
  [[nodiscard]] bool is_defined(std::string_view name) const;

  struct Storage;  ///< moves/syntax/storage.h
  explicit Unit(std::unique_ptr<Storage> storage);

 private:
  std::unique_ptr<Storage> storage_;
};

/// Parses any bytes. Never fails, and throws only bad_alloc; linear time; excessive nesting becomes
/// an opaque span.
[[nodiscard]] Unit parse(std::string source, const ParseOptions& options = {});
/// With the variant's tunables, -D options and kernel name; `known`: macros that the compiler sets.
[[nodiscard]] Unit parse(const KernelSpec& spec,
                         const Variant& variant,
                         const Bindings& known = {});

}  // namespace warpath::model
