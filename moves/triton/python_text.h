#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace warpath::python {

/// Bytes [begin, end) of a text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

enum class NodeKind : std::uint8_t {
  name,        ///< "x", "tl.float32": names joined by dots
  number,      ///< as written
  string,      ///< with its quotes; neighbours are one
  call,        ///< of a function of that name; arguments in order
  method,      ///< of another expression, the first child: (a + b).to(t)
  subscript,   ///< the value, then what stands in the brackets
  slice,       ///< a part of a subscript with colons
  unary,       ///< "-", "+", "~", "not"
  binary,      ///< arithmetic, "and", "or"
  comparison,  ///< of two; a chain of them is none
  tuple,       ///< also a list
};

/// An expression. Texts are those of the source.
struct Node {
  NodeKind kind = NodeKind::name;
  Span span;              ///< without parentheses around it
  Span outer;             ///< with all of them
  std::string_view text;  ///< name, literal, operator, or name of what is called
  std::vector<std::unique_ptr<Node>> children;
  /// calls: the keyword of each argument, empty for one by position; for a method they begin behind
  /// its object
  std::vector<std::string_view> keywords;
  Span close;  ///< calls: the closing parenthesis

  [[nodiscard]] bool is(NodeKind other) const { return kind == other; }
  [[nodiscard]] bool is_call_of(std::string_view function) const {
    return kind == NodeKind::call && text == function;
  }
  /// The argument with this keyword; null if there is none.
  [[nodiscard]] const Node* argument(std::string_view keyword) const;
  /// The argument at this position; null if there is none.
  [[nodiscard]] const Node* argument(std::size_t position) const;
};

enum class StatementKind : std::uint8_t {
  assign,     ///< names = value, also with a type
  augmented,  ///< name += value
  expression,
  loop,    ///< for name in value:
  branch,  ///< if, elif, while with a condition; else
  function,
  decorator,
  returned,
  other,
};

struct Parameter {
  std::string_view name, type;
  bool has_default = false;
};

/// A logical line.
struct Statement {
  StatementKind kind = StatementKind::other;
  Span span;               ///< from its first token to its last
  std::size_t line = 0;    ///< offset of the line that it begins on
  std::size_t indent = 0;  ///< in blanks
  std::size_t parent = 0;  ///< index of the statement that it is in the body of; kNone: the file
  std::string_view word;   ///< its first word or byte
  std::vector<std::string_view> targets;  ///< names that it gives values to; of a function its name
  std::vector<Parameter> parameters;      ///< of a function
  std::unique_ptr<Node> value;            ///< null if there is none, or it is not understood
  bool understood = false;                ///< all of it is in these fields
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

/// A Python text as statements with expressions: as much of the language as kernels are written in.
/// Immutable; the source must outlive it.
class Text {
 public:
  explicit Text(std::string_view source);
  /// Why the text cannot be told apart into statements (tabs, carriage returns, formatted strings,
  /// brackets that do not match); empty: it can. Then there are no statements.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::string_view source() const { return source_; }
  [[nodiscard]] const std::vector<Statement>& statements() const { return statements_; }
  [[nodiscard]] std::string_view text(Span span) const {
    return source_.substr(span.begin, span.end - span.begin);
  }
  /// How often the name stands in the file, comments and strings aside.
  [[nodiscard]] std::size_t count(std::string_view word) const;
  /// `inner` is in the body of `outer`, at any depth.
  [[nodiscard]] bool is_within(std::size_t inner, std::size_t outer) const;

 private:
  std::string_view source_;
  std::string problem_;
  std::vector<Statement> statements_;
  std::unordered_map<std::string_view, std::size_t> words_;
};

/// Calls `visit` for the node and all below it, parents first.
template <typename Visit>
void walk(const Node& node, const Visit& visit) {
  visit(node);
  for (const auto& child : node.children) walk(*child, visit);
}

}  // namespace warpath::python
