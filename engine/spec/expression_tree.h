#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/spec/expression.h"

namespace warpath {

/// Operations of expressions; docs/spec.md says what they mean.
enum class ExpressionOp : std::uint8_t {
  constant,
  name,
  ternary,
  logical_or,
  logical_and,
  logical_not,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  add,
  sub,
  mul,
  div,
  mod,
  negate,
  ceil_div,
  min,
  max,
  abs,
  align_up,
};

/// A tree of at most 1000 nodes. Operands of `ternary`: condition, value if it is not 0, value
/// otherwise; the others have theirs in the order of the text.
struct Expression::Node {
  ExpressionOp op = ExpressionOp::constant;
  std::int64_t value = 0;  ///< constant
  std::string name;        ///< name
  std::vector<std::shared_ptr<const Node>> children;
};

/// The tree of an expression, for translators.
[[nodiscard]] std::shared_ptr<const Expression::Node> expression_tree(const Expression& expression);

}  // namespace warpath
