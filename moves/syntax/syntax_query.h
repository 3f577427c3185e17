#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "moves/syntax/unit.h"

/// Questions about a parsed text, and its layout.
namespace warpath::model {

/// A kernel in a branch excluded by a preprocessor condition, hence without nodes.
struct HiddenKernel {
  std::string name;
  Span condition;  ///< the directive of the branch
};
[[nodiscard]] std::vector<HiddenKernel> hidden_kernels(const Unit& unit);

/// Unit::plain_text of the expression, and of its type, in the text it was parsed from.
[[nodiscard]] std::string plain_text(const Expr& expr);
[[nodiscard]] std::string plain_type(const Expr& expr);

/// Calls `visit` for the expression and its descendants, parents first. Returning false skips the
/// children.
void walk(const Expr& root, const std::function<bool(const Expr&)>& visit);
/// Calls `visit` for every expression below the statement: conditions, initialisers, extents,
/// operands, nested statements.
void walk_expressions(const Stmt& root, const std::function<bool(const Expr&)>& visit);
/// Calls `visit` for the statement and its descendants, including lambda bodies, in source order.
void walk(const Stmt& root, const std::function<bool(const Stmt&)>& visit);
/// The immediate expressions of `stmt`, in evaluation order.
[[nodiscard]] std::vector<const Expr*> expressions_of(const Stmt& stmt);

/// The operand below C-style, static and functional casts of one argument. Parentheses are not
/// nodes.
[[nodiscard]] const Expr& strip_casts(const Expr& expr);
/// Name of the callee of a call ("fmaxf", "std::max", "f" for "f<4>"); empty for other callees and
/// kinds.
[[nodiscard]] std::string_view callee(const Expr& expr);
/// The declaration that a name refers to, following scopes: local, parameter, global; null if
/// unknown.
[[nodiscard]] const Declarator* declaration_of(const Unit& unit, const Expr& name);
/// The declarator visible as `name` just before byte `at` in `function`.
[[nodiscard]] const Declarator* visible(const Unit& unit,
                                        const Function& function,
                                        std::string_view name,
                                        std::size_t at);

/// Value of an integer constant expression over literals, constants of the unit, constexpr locals
/// and `extra`; includes sizeof of known types, ?: and comparisons. Helper functions are not
/// called. nullopt if unknown or overflowing.
[[nodiscard]] std::optional<std::int64_t> constant_value(const Unit& unit,
                                                         const Expr& expr,
                                                         const Bindings& extra = {});
/// The same for an expression given as text.
[[nodiscard]] std::optional<std::int64_t> constant_value(const Unit& unit,
                                                         std::string_view text,
                                                         const Bindings& extra = {});

/// True if evaluation has no side effects: no assignment, ++, --, asm, and only calls of known pure
/// functions.
[[nodiscard]] bool is_pure(const Unit& unit, const Expr& expr);
/// True if the function has no side effects and depends only on its arguments (or on the thread's
/// indices): maths, conversions, vector constructors, and `__device__` functions of the file whose
/// body is one return of a pure expression.
[[nodiscard]] bool is_pure_function(const Unit& unit, std::string_view name);
/// True if CUDA or C++ has a function of this name without side effects: maths, conversions, vector
/// constructors.
[[nodiscard]] bool is_library_function(std::string_view name);
/// The returned expression of a helper function that consists of one return; null otherwise.
[[nodiscard]] const Expr* returned_expression(const Function& function);
/// True if the name occurs in the expression as a variable (not as a member).
[[nodiscard]] bool mentions(const Expr& expr, std::string_view name);
[[nodiscard]] bool mentions(const Stmt& stmt, std::string_view name);
/// True if the token sequences are equal: `a+b` and `a + b`.
[[nodiscard]] bool same_text(const Unit& unit, const Expr& a, const Expr& b);

/// `wish` if the file does not use that name, otherwise wish_2, wish_3, ...; own_wish where names
/// that begin like it are CUDA's. `taken` lists further names in use.
[[nodiscard]] std::string fresh_name(const Unit& unit,
                                     std::string_view wish,
                                     std::set<std::string, std::less<>>* taken = nullptr);
/// Leading blanks of the line that contains byte `at`.
[[nodiscard]] std::string indentation(const Unit& unit, std::size_t at);
/// One level of indentation in this file (two spaces, four, a tab).
[[nodiscard]] std::string indent_unit(const Unit& unit);
/// `text` with `indent` before each non-empty line.
[[nodiscard]] std::string indented(std::string_view text, std::string_view indent);
/// Line number from 1.
[[nodiscard]] std::size_t line_of(const Unit& unit, std::size_t at);
/// The span extended to whole lines if only blanks, and the comments directly above on lines of
/// their own, are beside it.
[[nodiscard]] Span whole_lines(const Unit& unit, Span span, bool with_comments_above = false);

/// True if `ancestor` is `stmt` or contains it.
[[nodiscard]] bool is_inside(const Stmt& stmt, const Stmt& ancestor);
[[nodiscard]] bool is_inside(const Expr& expr, const Stmt& ancestor);
/// The innermost loop around the statement; null if none.
[[nodiscard]] const Stmt* enclosing_loop(const Stmt& stmt);
/// The statement as a list: a block's children, otherwise itself.
[[nodiscard]] std::vector<const Stmt*> statements(const Stmt& body);

}  // namespace warpath::model
