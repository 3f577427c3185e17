#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace warpath {

/// Values of the names in an expression: scalar arguments, tunables, macro constants.
using Bindings = std::map<std::string, std::int64_t, std::less<>>;

/// Integer expression over names, used in specs for shapes, launch plans, bounds and constraints.
///
/// Grammar, loosest first: `a ? b : c`, `a or b` (`||`), `a and b` (`&&`), `not a` (`!`),
/// comparisons
/// `== != < <= > >=` (not chained), `+ -`, `* / %`, unary `-`, integers (decimal, 0x hex; 1e6 and
/// 2^20 are rejected), names `[A-Za-z_][A-Za-z0-9_]*`, parentheses, `ceil_div(a, b)`, `min(a,
/// ...)`, `max(a, ...)`, `abs(a)`, `align_up(a, b)`. 64-bit signed; `/` and `%` truncate towards
/// zero. Overflow and division by zero are errors, never wrapped. Immutable and cheap to copy.
class Expression {
 public:
  Expression();  ///< the constant 0
  explicit Expression(std::int64_t constant);
  /// Throws Error(bad_input) with the column and what was expected. `place` is prefixed to the
  /// message.
  [[nodiscard]] static Expression parse(std::string_view text, std::string_view place);

  /// Throws Error(bad_input) on an unknown name, overflow or division by zero; `place` is prefixed.
  [[nodiscard]] std::int64_t evaluate(const Bindings& bindings, std::string_view place) const;
  [[nodiscard]] std::set<std::string> names() const;
  /// Canonical text: minimal parentheses, single spaces. parse(text()) yields an equal expression.
  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] bool is_constant() const;

  bool operator==(const Expression& other) const { return text() == other.text(); }

  struct Node;

 private:
  std::shared_ptr<const Node> root_;         // shared: immutable tree, copies are cheap
  std::shared_ptr<const std::string> text_;  // canonical
};

}  // namespace warpath
