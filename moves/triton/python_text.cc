#include "moves/triton/python_text.h"

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/words.h"
#include "moves/triton/python_tokens.h"

namespace warpath::python {
namespace {

using NodePtr = std::unique_ptr<Node>;

/// Of brackets and operators within each other; of one expression, whose tree is as deep at most.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxTokens = 5000;
constexpr WordList kReserved(
    "if elif else for while in is lambda await async yield import from def class return pass break "
    "continue assert with try except finally raise global nonlocal del as not and or None True "
    "False");
constexpr WordList kValues("None True False");

/// Binary operators by precedence, the loosest first; comparisons and "not" stand between "and" and
/// "|".
constexpr int kOr = 1, kAnd = 2, kNot = 3, kCompare = 4, kUnary = 11, kPower = 12;
int precedence(std::string_view op) {
  struct Level {
    std::string_view op;
    int level;
  };
  static constexpr std::array kLevels{
      Level{"or", kOr},     Level{"and", kAnd},    Level{"<", kCompare},  Level{"<=", kCompare},
      Level{">", kCompare}, Level{">=", kCompare}, Level{"==", kCompare}, Level{"!=", kCompare},
      Level{"|", 5},        Level{"^", 6},         Level{"&", 7},         Level{"<<", 8},
      Level{">>", 8},       Level{"+", 9},         Level{"-", 9},         Level{"*", 10},
      Level{"/", 10},       Level{"//", 10},       Level{"%", 10},        Level{"@", 10},
      Level{"**", kPower}};
  for (const Level& one : kLevels) {
    if (one.op == op) return one.level;
  }
  return 0;
}

/// Reads one expression from tokens; a null result is none that it understands.
class ExpressionReader {
 public:
  ExpressionReader(std::string_view source, std::span<const Token> tokens)
      : source_(source), tokens_(tokens) {}

  /// All tokens are one expression, or several with commas.
  NodePtr read_all() {
    if (tokens_.size() > kMaxTokens) return nullptr;
    NodePtr out = list_of_expressions();
    return at_ == tokens_.size() ? std::move(out) : nullptr;
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
                              : std::string_view();
  }
  [[nodiscard]] bool next_is(std::string_view op) const { return text(at_) == op; }
  bool take(std::string_view op) {
    if (!next_is(op)) return false;
    ++at_;
    return true;
  }
  NodePtr make(NodeKind kind, std::size_t begin, std::size_t end, std::string_view text) const {
    auto out = std::make_unique<Node>();
    out->kind = kind;
    out->span = out->outer = {begin, end};
    out->text = text;
    return out;
  }

  NodePtr list_of_expressions() {
    NodePtr first = expression(kOr);
    if (first == nullptr || !next_is(",")) return first;
    NodePtr out = make(NodeKind::tuple, first->outer.begin, first->outer.end, "");
    out->children.push_back(std::move(first));
    while (take(",")) {
      if (at_ == tokens_.size() || next_is(")") || next_is("]")) break;
      NodePtr one = expression(kOr);
      if (one == nullptr) return nullptr;
      out->span.end = out->outer.end = one->outer.end;
      out->children.push_back(std::move(one));
    }
    return out;
  }

  NodePtr expression(int least) {
    if (++depth_ > kMaxDepth) return nullptr;
    NodePtr left = operand();
    bool compared = false;
    while (left != nullptr && at_ < tokens_.size()) {
      const std::string_view op = text(at_);
      const int level = precedence(op);
      if (level == 0 || level < least) break;
      if (level == kCompare && compared) return nullptr;
      compared = level == kCompare;
      ++at_;
      NodePtr right = expression(level == kPower ? kUnary : level + 1);
      if (right == nullptr) return nullptr;
      NodePtr joined = make(level == kCompare ? NodeKind::comparison : NodeKind::binary,
                            left->outer.begin, right->outer.end, op);
      joined->children.push_back(std::move(left));
      joined->children.push_back(std::move(right));
      left = std::move(joined);
    }
    --depth_;
    return left;
  }

  NodePtr operand() {
    const std::string_view op = text(at_);
    for (const std::string_view sign : {"-", "+", "~", "not"}) {
      if (op != sign) continue;
      const std::size_t begin = tokens_[at_++].begin;
      NodePtr value = expression(sign == "not" ? kNot : kUnary);
      if (value == nullptr) return nullptr;
      NodePtr out = make(NodeKind::unary, begin, value->outer.end, op);
      out->children.push_back(std::move(value));
      return out;
    }
    return trailers(atom());
  }

  NodePtr atom() {
    if (at_ == tokens_.size()) return nullptr;
    const Token& token = tokens_[at_];
    switch (token.kind) {
      case TokenKind::number:
        ++at_;
        return make(NodeKind::number, token.begin, token.end, text(at_ - 1));
      case TokenKind::string: {
        std::size_t end = token.end;
        while (at_ < tokens_.size() && tokens_[at_].kind == TokenKind::string)
          end = tokens_[at_++].end;
        return make(NodeKind::string, token.begin, end,
                    source_.substr(token.begin, end - token.begin));
      }
      case TokenKind::name: {
        if (kReserved.contains(text(at_)) && !kValues.contains(text(at_))) return nullptr;
        std::size_t end = tokens_[at_++].end;
        while (next_is(".") && at_ + 1 < tokens_.size() &&
               tokens_[at_ + 1].kind == TokenKind::name) {
          end = tokens_[at_ + 1].end;
          at_ += 2;
        }
        return make(NodeKind::name, token.begin, end,
                    source_.substr(token.begin, end - token.begin));
      }
      case TokenKind::op:
        break;
      case TokenKind::line_end:
        return nullptr;
    }
    if (next_is("(") || next_is("[")) return bracketed();
    return nullptr;
  }

  NodePtr bracketed() {
    const bool is_list = next_is("[");
    const std::size_t begin = tokens_[at_++].begin;
    NodePtr inside = next_is(is_list ? "]" : ")")
                         ? make(NodeKind::tuple, begin, tokens_[at_].end, "")
                         : list_of_expressions();
    if (inside == nullptr || !take(is_list ? "]" : ")")) return nullptr;
    const std::size_t end = tokens_[at_ - 1].end;
    if (is_list && !inside->is(NodeKind::tuple)) {
      NodePtr list = make(NodeKind::tuple, begin, end, "");
      list->children.push_back(std::move(inside));
      return list;
    }
    inside->outer = {begin, end};
    if (inside->is(NodeKind::tuple)) inside->span = inside->outer;
    return inside;
  }

  NodePtr trailers(NodePtr value) {
    while (value != nullptr) {
      if (next_is("(")) {
        value = call(std::move(value));
      } else if (next_is("[")) {
        value = subscript(std::move(value));
      } else if (next_is(".") && at_ + 1 < tokens_.size() &&
                 tokens_[at_ + 1].kind == TokenKind::name) {
        // a method of what stands before it
        NodePtr out =
            make(NodeKind::method, value->outer.begin, tokens_[at_ + 1].end, text(at_ + 1));
        out->children.push_back(std::move(value));
        at_ += 2;
        if (!next_is("(")) return nullptr;
        value = arguments(std::move(out));
      } else {
        break;
      }
    }
    return value;
  }

  NodePtr call(NodePtr function) {
    if (!function->is(NodeKind::name)) return nullptr;
    return arguments(
        make(NodeKind::call, function->span.begin, function->span.end, function->text));
  }

  NodePtr arguments(NodePtr out) {
    ++at_;
    while (!next_is(")")) {
      std::string_view keyword;
      if (at_ + 1 < tokens_.size() && tokens_[at_].kind == TokenKind::name &&
          text(at_ + 1) == "=") {
        keyword = text(at_);
        at_ += 2;
      }
      NodePtr one = expression(kOr);
      if (one == nullptr) return nullptr;
      out->children.push_back(std::move(one));
      out->keywords.push_back(keyword);
      if (!take(",") && !next_is(")")) return nullptr;
    }
    out->close = {tokens_[at_].begin, tokens_[at_].end};
    out->span.end = out->outer.end = tokens_[at_].end;
    ++at_;
    return out;
  }

  NodePtr subscript(NodePtr value) {
    NodePtr out = make(NodeKind::subscript, value->outer.begin, value->outer.end, "");
    out->children.push_back(std::move(value));
    ++at_;
    while (!next_is("]")) {
      NodePtr one = part();
      if (one == nullptr) return nullptr;
      out->children.push_back(std::move(one));
      if (!take(",") && !next_is("]")) return nullptr;
    }
    out->span.end = out->outer.end = tokens_[at_++].end;
    return out;
  }

  /// One of the parts between the commas of a subscript.
  NodePtr part() {
    if (at_ >= tokens_.size()) return nullptr;
    const std::size_t begin = tokens_[at_].begin;
    NodePtr first = next_is(":") ? nullptr : expression(kOr);
    if (first == nullptr && !next_is(":")) return nullptr;
    if (!next_is(":")) return first;
    NodePtr out = make(NodeKind::slice, begin, tokens_[at_].end, "");
    if (first != nullptr) out->children.push_back(std::move(first));
    while (take(":")) {
      out->span.end = out->outer.end = tokens_[at_ - 1].end;
      if (next_is(":") || next_is(",") || next_is("]")) continue;
      NodePtr one = expression(kOr);
      if (one == nullptr) return nullptr;
      out->span.end = out->outer.end = one->outer.end;
      out->children.push_back(std::move(one));
    }
    return out;
  }

  std::string_view source_;
  std::span<const Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

constexpr WordList kAugmented("+= -= *= /= //= %= **= &= |= ^= <<= >>= @=");
constexpr WordList kBlocks("if elif else while");
constexpr WordList kUnread("class with try except finally async match case");

/// Reads one logical line.
class LineReader {
 public:
  LineReader(std::string_view source, std::span<const Token> tokens, Statement& out)
      : source_(source), tokens_(tokens), out_(out) {}

  void read() {
    const std::string_view word = out_.word = text(0);
    if (find(";") < tokens_.size()) return;
    if (word == "@") {
      out_.kind = StatementKind::decorator;
      value(1, tokens_.size());
    } else if (word == "def") {
      out_.kind = StatementKind::function;
      if (tokens_.size() < 5 || !is_name(1) || text(2) != "(") return;
      out_.targets = {text(1)};
      out_.understood = parameters() && text(tokens_.size() - 1) == ":";
    } else if (word == "for") {
      loop();
    } else if (kBlocks.contains(word)) {
      out_.kind = StatementKind::branch;
      if (text(tokens_.size() - 1) != ":") return;
      if (word == "else")
        out_.understood = tokens_.size() == 2;
      else
        value(1, tokens_.size() - 1);
    } else if (word == "return") {
      out_.kind = StatementKind::returned;
      if (tokens_.size() == 1)
        out_.understood = true;
      else
        value(1, tokens_.size());
    } else if (word == "pass" || word == "break" || word == "continue") {
      out_.understood = tokens_.size() == 1;
    } else if (kReserved.contains(word) && !kValues.contains(word) && word != "not") {
      out_.understood = word == "import" || word == "from";
    } else if (!kUnread.contains(word)) {
      simple();
    }
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  [[nodiscard]] bool is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == TokenKind::name && !kReserved.contains(text(i));
  }
  /// Position of `op` outside of brackets; the number of tokens if it is nowhere.
  [[nodiscard]] std::size_t find(std::string_view op, std::size_t from = 0) const {
    int depth = 0;
    for (std::size_t i = from; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != TokenKind::op) continue;
      const std::string_view one = text(i);
      if (depth == 0 && one == op) return i;
      if (one == "(" || one == "[" || one == "{") ++depth;
      if (one == ")" || one == "]" || one == "}") --depth;
    }
    return tokens_.size();
  }

  void value(std::size_t begin, std::size_t end) {
    out_.value = ExpressionReader(source_, tokens_.subspan(begin, end - begin)).read_all();
    out_.understood = out_.value != nullptr;
  }

  /// From the third token on; false for what may be any number of arguments.
  bool parameters() {
    std::size_t at = 3;
    while (text(at) != ")") {
      if (!is_name(at)) return false;
      Parameter one{.name = text(at++), .type = {}, .has_default = false};
      int depth = 0;
      const std::size_t type = at + 1;
      for (; at < tokens_.size(); ++at) {
        const std::string_view token = text(at);
        if (depth == 0 && (token == "," || token == ")" || token == "=")) break;
        if (token == "(" || token == "[" || token == "{") ++depth;
        if (token == ")" || token == "]" || token == "}") --depth;
      }
      if (at > type)
        one.type = source_.substr(tokens_[type].begin, tokens_[at - 1].end - tokens_[type].begin);
      one.has_default = text(at) == "=";
      for (; at < tokens_.size(); ++at) {
        const std::string_view token = text(at);
        if (depth == 0 && (token == "," || token == ")")) break;
        if (token == "(" || token == "[" || token == "{") ++depth;
        if (token == ")" || token == "]" || token == "}") --depth;
      }
      out_.parameters.push_back(one);
      if (text(at) == ",") ++at;
    }
    return true;
  }

  void loop() {
    out_.kind = StatementKind::loop;
    if (!is_name(1)) return;
    out_.targets = {text(1)};
    if (tokens_.size() < 5 || text(2) != "in" || text(tokens_.size() - 1) != ":") {
      // every name in front of "in" gets a value
      for (std::size_t i = 2; i < tokens_.size() && text(i) != "in"; ++i) {
        if (is_name(i)) out_.targets.push_back(text(i));
      }
      return;
    }
    value(3, tokens_.size() - 1);
  }

  void simple() {
    for (const std::string_view op : kAugmented) {
      const std::size_t at = find(op);
      if (at == tokens_.size()) continue;
      out_.kind = StatementKind::augmented;
      names(0, at);
      const bool plain = at == 1 && is_name(0);
      value(at + 1, tokens_.size());
      out_.understood = out_.understood && plain;
      return;
    }
    const std::size_t equals = find("="), colon = find(":");
    if (equals == tokens_.size() && colon == tokens_.size()) {
      out_.kind = StatementKind::expression;
      return value(0, tokens_.size());
    }
    out_.kind = StatementKind::assign;
    const bool typed = colon < equals;
    names(0, typed ? colon : equals);
    if (equals == tokens_.size()) return;
    const std::size_t again = find("=", equals + 1);
    if (again < tokens_.size()) return names(equals + 1, again);
    value(equals + 1, tokens_.size());
    const std::size_t left = typed ? colon : equals;
    out_.understood = out_.understood && are_names(left);
  }

  /// What stands in front of an assignment gives values to these names, as far as they are certain.
  void names(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      if (is_name(i)) out_.targets.push_back(text(i));
    }
  }
  /// Tokens [0, end) are "a" or "a, b".
  [[nodiscard]] bool are_names(std::size_t end) const {
    for (std::size_t i = 0; i < end; ++i) {
      if (i % 2 == 0 ? !is_name(i) : text(i) != ",") return false;
    }
    return end % 2 == 1;
  }

  std::string_view source_;
  std::span<const Token> tokens_;
  Statement& out_;
};

}  // namespace

const Node* Node::argument(std::string_view keyword) const {
  const std::size_t first = children.size() - keywords.size();
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    if (keywords[i] == keyword) return children[first + i].get();
  }
  return nullptr;
}

const Node* Node::argument(std::size_t position) const {
  const std::size_t first = children.size() - keywords.size();
  if (position >= keywords.size() || !keywords[position].empty()) return nullptr;
  return children[first + position].get();
}

Text::Text(std::string_view source) : source_(source) {
  std::vector<Token> tokens;
  if (!tokenize(source, tokens, problem_)) return;
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::name)
      ++words_[source.substr(token.begin, token.end - token.begin)];
  }
  std::vector<std::size_t> open;  // statements whose bodies hold the current line
  for (std::size_t begin = 0; begin < tokens.size();) {
    std::size_t end = begin;
    while (tokens[end].kind != TokenKind::line_end) ++end;
    const std::size_t first = tokens[begin].begin, newline = source.rfind('\n', first);
    Statement one;
    one.span = {first, tokens[end - 1].end};
    one.line = newline == std::string_view::npos ? 0 : newline + 1;
    one.indent = first - one.line;
    while (!open.empty() && statements_[open.back()].indent >= one.indent) open.pop_back();
    one.parent = open.empty() ? Statement::kNone : open.back();
    LineReader(source, std::span<const Token>(tokens).subspan(begin, end - begin), one).read();
    open.push_back(statements_.size());
    statements_.push_back(std::move(one));
    begin = end + 1;
  }
}

std::size_t Text::count(std::string_view word) const {
  const auto it = words_.find(word);
  return it == words_.end() ? 0 : it->second;
}

bool Text::is_within(std::size_t inner, std::size_t outer) const {
  for (std::size_t at = statements_[inner].parent; at != Statement::kNone;
       at = statements_[at].parent) {
    if (at == outer) return true;
  }
  return false;
}

}  // namespace warpath::python
