#include "engine/spec/expression.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/ascii.h"
#include "engine/base/error.h"
#include "engine/spec/expression_tree.h"

namespace warpath {
namespace {

using Op = ExpressionOp;

// Binding strength, loosest first; the grammar of expression.h.
enum Level : int { kTernary, kOr, kAnd, kNot, kCompare, kSum, kProduct, kUnary, kPrimary };

struct Infix {
  std::string_view text;
  Op op;
  Level level;
};
constexpr std::array<Infix, 13> kInfix{{{"or", Op::logical_or, kOr},
                                        {"and", Op::logical_and, kAnd},
                                        {"==", Op::eq, kCompare},
                                        {"!=", Op::ne, kCompare},
                                        {"<=", Op::le, kCompare},
                                        {">=", Op::ge, kCompare},
                                        {"<", Op::lt, kCompare},
                                        {">", Op::gt, kCompare},
                                        {"+", Op::add, kSum},
                                        {"-", Op::sub, kSum},
                                        {"*", Op::mul, kProduct},
                                        {"/", Op::div, kProduct},
                                        {"%", Op::mod, kProduct}}};

struct Function {
  std::string_view name;
  Op op;
  std::size_t min_arguments, max_arguments;
};
constexpr std::size_t kMany = 1000;
constexpr std::array<Function, 5> kFunctions{{{"ceil_div", Op::ceil_div, 2, 2},
                                              {"min", Op::min, 1, kMany},
                                              {"max", Op::max, 1, kMany},
                                              {"abs", Op::abs, 1, 1},
                                              {"align_up", Op::align_up, 2, 2}}};

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kMaxCharacters = 1 << 16;
// bounds the depth of every tree, hence all recursion below
constexpr std::size_t kMaxNodes = 1000;
constexpr int kMaxNesting = 100;

using Node = Expression::Node;
using NodePtr = std::shared_ptr<const Node>;

NodePtr make_constant(std::int64_t value) {
  return std::make_shared<const Node>(
      Node{.op = Op::constant, .value = value, .name = {}, .children = {}});
}
NodePtr make_node(Op op, std::vector<NodePtr> children) {
  return std::make_shared<const Node>(
      Node{.op = op, .value = 0, .name = {}, .children = std::move(children)});
}

Level level_of(Op op) {
  if (op == Op::ternary) return kTernary;
  if (op == Op::logical_not) return kNot;
  if (op == Op::negate) return kUnary;
  for (const Infix& row : kInfix) {
    if (row.op == op) return row.level;
  }
  return kPrimary;
}

std::string print(const Node& node);

std::string print_at(const Node& node, Level least) {
  return level_of(node.op) < least ? "(" + print(node) + ")" : print(node);
}

std::string print(const Node& node) {
  const auto& c = node.children;
  switch (node.op) {
    case Op::constant:
      return std::to_string(node.value);
    case Op::name:
      return node.name;
    case Op::ternary:
      return print_at(*c[0], kOr) + " ? " + print_at(*c[1], kTernary) + " : " +
             print_at(*c[2], kTernary);
    case Op::logical_not:
      return "not " + print_at(*c[0], kNot);
    case Op::negate:
      return "-" + print_at(*c[0], kUnary);
    default:
      break;
  }
  for (const Infix& row : kInfix) {
    if (row.op != node.op) continue;
    // Left-associative, except that comparisons do not chain at all.
    const Level left = row.level == kCompare ? kSum : row.level;
    return print_at(*c[0], left) + " " + std::string(row.text) + " " +
           print_at(*c[1], static_cast<Level>(row.level + 1));
  }
  for (const Function& row : kFunctions) {
    if (row.op != node.op) continue;
    std::string out(row.name);
    for (std::size_t i = 0; i < c.size(); ++i) out += (i == 0 ? "(" : ", ") + print(*c[i]);
    return out + ")";
  }
  return {};
}

/// Recursive descent over one text. Bounded by kMaxNesting and kMaxNodes.
class Parser {
 public:
  Parser(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  NodePtr parse_all() {
    if (text_.size() > kMaxCharacters)
      fail("an expression of at most " + std::to_string(kMaxCharacters) + " characters");
    NodePtr root = parse_ternary();
    skip_spaces();
    if (at_ != text_.size()) fail("an operator or the end" + column());
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw bad_input(place_, text_.empty() ? "\"\"" : text_, expected);
  }
  [[nodiscard]] std::string column() const { return " at column " + std::to_string(at_ + 1); }

  struct Nesting {
    explicit Nesting(Parser& parser) : depth(parser.depth_) {
      if (++depth > kMaxNesting)
        parser.fail("nesting of at most " + std::to_string(kMaxNesting) + " levels");
    }
    ~Nesting() { --depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int& depth;
  };

  NodePtr counted(NodePtr node) {
    if (++nodes_ > kMaxNodes)
      fail("an expression of at most " + std::to_string(kMaxNodes) + " terms");
    return node;
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(at_, token.size()) != token) return false;
    const std::size_t end = at_ + token.size();
    if (is_word_start(token[0]) && end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  void require(std::string_view token) {
    if (!accept(token)) fail("'" + std::string(token) + "'" + column());
  }

  NodePtr parse_ternary() {
    const Nesting nesting(*this);
    NodePtr condition = parse_or();
    if (!accept("?")) return condition;
    NodePtr yes = parse_ternary();
    require(":");
    NodePtr no = parse_ternary();
    return counted(make_node(Op::ternary, {std::move(condition), std::move(yes), std::move(no)}));
  }
  NodePtr parse_or() {
    NodePtr left = parse_and();
    while (accept("||") || accept("or"))
      left = counted(make_node(Op::logical_or, {left, parse_and()}));
    return left;
  }
  NodePtr parse_and() {
    NodePtr left = parse_not();
    while (accept("&&") || accept("and"))
      left = counted(make_node(Op::logical_and, {left, parse_not()}));
    return left;
  }
  NodePtr parse_not() {
    skip_spaces();
    const bool bang = text_.substr(at_, 1) == "!" && text_.substr(at_, 2) != "!=";
    if (!bang && !accept("not")) return parse_comparison();
    if (bang) ++at_;
    const Nesting nesting(*this);
    return counted(make_node(Op::logical_not, {parse_not()}));
  }
  std::optional<Op> accept_infix(Level level) {
    for (const Infix& row : kInfix) {
      if (row.level == level && accept(row.text)) return row.op;
    }
    return std::nullopt;
  }
  NodePtr parse_comparison() {
    NodePtr left = parse_infix(kSum);
    const auto op = accept_infix(kCompare);
    if (!op) return left;
    NodePtr node = counted(make_node(*op, {std::move(left), parse_infix(kSum)}));
    const std::size_t here = at_;
    if (accept_infix(kCompare)) {
      at_ = here;
      skip_spaces();
      fail("'and' between comparisons (they do not chain)" + column());
    }
    return node;
  }
  NodePtr parse_infix(Level level) {
    const auto operand = [&] { return level == kSum ? parse_infix(kProduct) : parse_unary(); };
    NodePtr left = operand();
    while (const auto op = accept_infix(level)) left = counted(make_node(*op, {left, operand()}));
    return left;
  }
  NodePtr parse_unary() {
    if (!accept("-")) return parse_primary();
    skip_spaces();
    if (at_ < text_.size() && is_digit(text_[at_])) return parse_number(true);
    const Nesting nesting(*this);
    NodePtr operand = parse_unary();
    if (operand->op == Op::constant && operand->value != kMin)
      return make_constant(-operand->value);
    return counted(make_node(Op::negate, {std::move(operand)}));
  }
  NodePtr parse_primary() {
    skip_spaces();
    if (at_ < text_.size() && is_digit(text_[at_])) return parse_number(false);
    if (at_ < text_.size() && is_word_start(text_[at_])) return parse_word();
    if (!accept("(")) fail("a number, a name, a function or '('" + column());
    NodePtr inner = parse_ternary();
    require(")");
    return inner;
  }
  NodePtr parse_number(bool negative) {
    const bool hex = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
    const unsigned base = hex ? 16 : 10;
    const std::size_t start = at_;
    if (hex) at_ += 2;
    const std::size_t first = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      unsigned digit = 16;
      if (is_digit(c)) digit = static_cast<unsigned>(c - '0');
      if (hex && c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
      if (hex && c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
      if (digit >= base) break;
      if (__builtin_mul_overflow(value, std::uint64_t{base}, &value) ||
          __builtin_add_overflow(value, std::uint64_t{digit}, &value)) {
        fail("a number that fits 64 bits" + column());
      }
    }
    if (at_ == first || (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.'))) {
      at_ = start;
      fail("an integer such as 42 or 0x2a" + column());
    }
    const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (value > limit + (negative ? 1 : 0)) fail("a number that fits 64 bits" + column());
    return counted(make_constant(static_cast<std::int64_t>(negative ? 0 - value : value)));
  }
  NodePtr parse_word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    for (const Function& row : kFunctions) {
      if (row.name == word) return parse_call(row);
    }
    if (word == "and" || word == "or" || word == "not") {
      at_ = start;
      fail("a number, a name, a function or '('" + column());
    }
    return counted(std::make_shared<const Node>(
        Node{.op = Op::name, .value = 0, .name = std::string(word), .children = {}}));
  }
  NodePtr parse_call(const Function& function) {
    require("(");
    std::vector<NodePtr> arguments{parse_ternary()};
    while (accept(",")) arguments.push_back(parse_ternary());
    require(")");
    if (arguments.size() < function.min_arguments || arguments.size() > function.max_arguments) {
      fail(std::string(function.name) + " with " + std::to_string(function.min_arguments) +
           " arguments" + column());
    }
    return counted(make_node(function.op, std::move(arguments)));
  }

  std::string_view text_, place_;
  std::size_t at_ = 0;
  std::size_t nodes_ = 0;
  int depth_ = 0;
};

/// Evaluation with the whole expression at hand for messages.
class Evaluator {
 public:
  Evaluator(const Bindings& bindings, std::string_view place, std::string_view whole)
      : bindings_(bindings), place_(place), whole_(whole) {}

  [[nodiscard]] std::int64_t value(const Node& node) const {
    const auto& c = node.children;
    switch (node.op) {
      case Op::constant:
        return node.value;
      case Op::name: {
        const auto it = bindings_.find(node.name);
        if (it == bindings_.end())
          fail("known names, which '" + node.name + "' is not; known: " + known());
        return it->second;
      }
      case Op::ternary:
        return value(*c[0]) != 0 ? value(*c[1]) : value(*c[2]);
      case Op::logical_or:
        return value(*c[0]) != 0 || value(*c[1]) != 0 ? 1 : 0;
      case Op::logical_and:
        return value(*c[0]) != 0 && value(*c[1]) != 0 ? 1 : 0;
      case Op::logical_not:
        return value(*c[0]) == 0 ? 1 : 0;
      case Op::negate:
        return checked(node, 0, value(*c[0]), Op::sub);
      case Op::abs: {
        const std::int64_t x = value(*c[0]);
        return x < 0 ? checked(node, 0, x, Op::sub) : x;
      }
      case Op::min:
      case Op::max: {
        std::int64_t best = value(*c[0]);
        for (std::size_t i = 1; i < c.size(); ++i) {
          const std::int64_t x = value(*c[i]);
          best = node.op == Op::min ? std::min(best, x) : std::max(best, x);
        }
        return best;
      }
      default:
        return binary(node, value(*c[0]), value(*c[1]));
    }
  }

 private:
  [[noreturn]] void fail(const std::string& expected) const {
    throw bad_input(place_, whole_, expected);
  }
  [[nodiscard]] std::string known() const {
    std::string out;
    for (const auto& [name, ignored] : bindings_) out += (out.empty() ? "" : ", ") + name;
    return out.empty() ? "none" : out;
  }
  [[nodiscard]] std::int64_t checked(const Node& node,
                                     std::int64_t a,
                                     std::int64_t b,
                                     Op op) const {
    std::int64_t out = 0;
    const bool overflow = op == Op::add   ? __builtin_add_overflow(a, b, &out)
                          : op == Op::sub ? __builtin_sub_overflow(a, b, &out)
                                          : __builtin_mul_overflow(a, b, &out);
    if (overflow) fail("a value that fits 64 bits ('" + print(node) + "' overflows)");
    return out;
  }
  [[nodiscard]] std::int64_t quotient(const Node& node, std::int64_t a, std::int64_t b) const {
    if (b == 0) fail("a divisor other than 0 in '" + print(node) + "'");
    return b == -1 ? checked(node, 0, a, Op::sub) : a / b;
  }
  /// Smallest integer not below the exact a / b.
  [[nodiscard]] std::int64_t ceiling(const Node& node, std::int64_t a, std::int64_t b) const {
    const std::int64_t q = quotient(node, a, b);
    return b != -1 && a % b != 0 && (a < 0) == (b < 0) ? q + 1 : q;
  }
  [[nodiscard]] std::int64_t binary(const Node& node, std::int64_t a, std::int64_t b) const {
    switch (node.op) {
      case Op::eq:
        return a == b ? 1 : 0;
      case Op::ne:
        return a != b ? 1 : 0;
      case Op::lt:
        return a < b ? 1 : 0;
      case Op::le:
        return a <= b ? 1 : 0;
      case Op::gt:
        return a > b ? 1 : 0;
      case Op::ge:
        return a >= b ? 1 : 0;
      case Op::div:
        return quotient(node, a, b);
      case Op::mod:
        if (b == 0) fail("a divisor other than 0 in '" + print(node) + "'");
        return b == -1 ? 0 : a % b;
      case Op::ceil_div:
        return ceiling(node, a, b);
      case Op::align_up:
        if (b < 1) fail("an alignment of at least 1 in '" + print(node) + "'");
        return checked(node, ceiling(node, a, b), b, Op::mul);
      default:
        return checked(node, a, b, node.op);
    }
  }

  const Bindings& bindings_;
  std::string_view place_, whole_;
};

void collect_names(const Node& node, std::set<std::string>& out) {
  if (node.op == Op::name) out.insert(node.name);
  for (const NodePtr& child : node.children) collect_names(*child, out);
}

}  // namespace

Expression::Expression() : Expression(0) {}

Expression::Expression(std::int64_t constant)
    : root_(make_constant(constant)),
      text_(std::make_shared<const std::string>(std::to_string(constant))) {}

Expression Expression::parse(std::string_view text, std::string_view place) {
  Expression out;
  out.root_ = Parser(text, place).parse_all();
  out.text_ = std::make_shared<const std::string>(print(*out.root_));
  return out;
}

std::shared_ptr<const Expression::Node> expression_tree(const Expression& expression) {
  return Parser(expression.text(), "").parse_all();
}

std::int64_t Expression::evaluate(const Bindings& bindings, std::string_view place) const {
  return Evaluator(bindings, place, *text_).value(*root_);
}

std::set<std::string> Expression::names() const {
  std::set<std::string> out;
  collect_names(*root_, out);
  return out;
}

const std::string& Expression::text() const {
  return *text_;
}

bool Expression::is_constant() const {
  return root_->op == Op::constant;
}

}  // namespace warpath
