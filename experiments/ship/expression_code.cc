#include "experiments/ship/expression_code.h"

#include <limits>

#include "engine/base/error.h"
#include "engine/spec/expression_tree.h"

namespace warpath {
namespace {

using Op = ExpressionOp;

std::string constant(std::int64_t value) {
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL - 1)";
  const std::string text = std::to_string(value);
  return value < 0 ? "(" + text + ")" : text;
}

/// The operator between two operands that cannot go wrong; null for others.
const char* plain_operator(Op op) {
  switch (op) {
    case Op::logical_or:
      return " || ";
    case Op::logical_and:
      return " && ";
    case Op::eq:
      return " == ";
    case Op::ne:
      return " != ";
    case Op::lt:
      return " < ";
    case Op::le:
      return " <= ";
    case Op::gt:
      return " > ";
    case Op::ge:
      return " >= ";
    default:
      return nullptr;
  }
}

/// The function of two operands that stands for an operation.
const char* function_of(Op op) {
  switch (op) {
    case Op::add:
      return "add";
    case Op::sub:
      return "sub";
    case Op::mul:
      return "mul";
    case Op::div:
      return "quotient";
    case Op::mod:
      return "remainder_of";
    case Op::ceil_div:
      return "ceil_div";
    case Op::align_up:
      return "align_up";
    default:
      return nullptr;
  }
}

std::string code(const Expression::Node& node, const NameInC& name_in_c) {
  const auto operand = [&](std::size_t i) { return code(*node.children[i], name_in_c); };
  switch (node.op) {
    case Op::constant:
      return constant(node.value);
    case Op::name:
      return name_in_c(node.name);
    case Op::ternary:
      return "(" + operand(0) + " ? " + operand(1) + " : " + operand(2) + ")";
    case Op::logical_not:
      return "!(" + operand(0) + ")";
    case Op::negate:
      return "sub(0, " + operand(0) + ", &bad)";
    case Op::abs:
      return "magnitude(" + operand(0) + ", &bad)";
    case Op::min:
    case Op::max: {
      std::string out = operand(0);
      for (std::size_t i = 1; i < node.children.size(); ++i)
        out = (node.op == Op::min ? "least(" : "greatest(") + out + ", " + operand(i) + ")";
      return out;
    }
    default:
      break;
  }
  if (const char* const text = plain_operator(node.op))
    return "(" + operand(0) + text + operand(1) + ")";
  const char* const function = function_of(node.op);
  WARPATH_CHECK(function != nullptr);
  return std::string(function) + "(" + operand(0) + ", " + operand(1) + ", &bad)";
}

/// Truth values are 0 and 1 in arithmetic.
std::string python(const Expression::Node& node, const NameInC& name) {
  const auto operand = [&](std::size_t i) { return python(*node.children[i], name); };
  const auto call = [&](const char* function) {
    std::string out;
    for (std::size_t i = 0; i < node.children.size(); ++i) out += (i == 0 ? "" : ", ") + operand(i);
    return std::string(function) + "(" + out + ")";
  };
  const auto infix = [&](const char* op) { return "(" + operand(0) + op + operand(1) + ")"; };
  switch (node.op) {
    case Op::constant:
      return node.value < 0 ? "(" + std::to_string(node.value) + ")" : std::to_string(node.value);
    case Op::name:
      return name(node.name);
    case Op::ternary:
      return "(" + operand(1) + " if " + operand(0) + " else " + operand(2) + ")";
    case Op::logical_or:
      return "bool(" + operand(0) + " or " + operand(1) + ")";
    case Op::logical_and:
      return "bool(" + operand(0) + " and " + operand(1) + ")";
    case Op::logical_not:
      return "(not " + operand(0) + ")";
    case Op::negate:
      return "(-" + operand(0) + ")";
    case Op::abs:
      return call("abs");
    case Op::min:
    case Op::max:
      if (node.children.size() == 1) return operand(0);
      return call(node.op == Op::min ? "min" : "max");
    case Op::add:
      return infix(" + ");
    case Op::sub:
      return infix(" - ");
    case Op::mul:
      return infix(" * ");
    case Op::div:
      return call("_quotient");
    case Op::mod:
      return call("_remainder");
    case Op::ceil_div:
      return call("_ceil_div");
    case Op::align_up:
      return call("_align_up");
    default:
      return infix(plain_operator(node.op));
  }
}

}  // namespace

std::string python_expression(const Expression& expression, const NameInC& name_in_python) {
  return python(*expression_tree(expression), name_in_python);
}

std::string c_expression(const Expression& expression, const NameInC& name_in_c) {
  return code(*expression_tree(expression), name_in_c);
}

}  // namespace warpath
