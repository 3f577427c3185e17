#include <algorithm>

#include "moves/syntax/parser.h"

namespace warpath::model {
namespace {

bool is_named_cast(std::string_view word) {
  return word == "static_cast" || word == "reinterpret_cast" || word == "const_cast" ||
         word == "dynamic_cast";
}

bool is_value_word(std::string_view word) {
  return word == "true" || word == "false" || word == "nullptr" || word == "this";
}

}  // namespace

Expr* Parser::make(ExprKind kind, std::size_t from, const std::vector<Expr*>& args) {
  std::uint16_t height = 1;
  for (const Expr* arg : args) {
    if (arg == nullptr) return nullptr;
    height = std::max(height, static_cast<std::uint16_t>(arg->height + 1));
  }
  if (height > kMaxHeight) return nullptr;
  Expr* const out = s_.make<Expr>();
  out->kind = kind;
  out->span = out->outer = span(from, at_);
  out->args = s_.keep(args);
  out->stmt = stmt_;
  out->source = &s_.source;
  out->height = height;
  for (Expr* arg : args) arg->parent = out;
  return out;
}

Expr* Parser::opaque_expression(std::size_t from, std::size_t end) {
  at_ = end;
  Expr* const out = make(ExprKind::opaque, from, {});
  if (end > from) note_opaque(out->span);
  return out;
}

Expr* Parser::parse_comma() {
  const std::size_t from = at_;
  Expr* left = parse_assignment();
  while (left != nullptr && is(at_, ",") && !is(at_ + 1, "...")) {
    ++at_;
    Expr* const right = parse_assignment();
    if (right == nullptr) return nullptr;
    left = make(ExprKind::comma, from, {left, right});
  }
  return left;
}

Expr* Parser::parse_assignment() {
  const Deeper deeper(*this);
  if (too_deep()) return nullptr;
  const std::size_t from = at_;
  Expr* const left = parse_binary(1);
  if (left == nullptr) return nullptr;
  if (is(at_, "?")) {
    ++at_;
    Expr* const yes = parse_comma();
    if (yes == nullptr || !is(at_, ":")) return nullptr;
    ++at_;
    Expr* const no = parse_assignment();
    return no == nullptr ? nullptr : make(ExprKind::conditional, from, {left, yes, no});
  }
  if (!is_assignment(lex(at_).text)) return left;
  const std::size_t op = at_++;
  Expr* const right = parse_assignment();
  if (right == nullptr) return nullptr;
  Expr* const out = make(ExprKind::assign, from, {left, right});
  if (out == nullptr) return nullptr;
  out->op = lex(op).text;
  out->name_span = span(op, op + 1);
  return out;
}

Expr* Parser::parse_binary(int least) {
  const std::size_t from = at_;
  Expr* left = parse_unary();
  while (left != nullptr) {
    const std::size_t op = at_;
    const int strength = precedence(lex(op).text);
    if (strength == 0 || strength < least) break;
    if (is(op + 1, "...")) break;  // a fold expression
    ++at_;
    Expr* const right = parse_binary(strength + 1);
    if (right == nullptr) return nullptr;
    left = make(ExprKind::binary, from, {left, right});
    if (left == nullptr) return nullptr;
    left->op = lex(op).text;
    left->name_span = span(op, op + 1);
  }
  return left;
}

Expr* Parser::parse_unary() {
  const Deeper deeper(*this);
  if (too_deep()) return nullptr;
  const std::size_t from = at_;
  const std::string_view word = lex(at_).text;
  if (is_prefix(word)) {
    ++at_;
    Expr* const operand = parse_unary();
    if (operand == nullptr) return nullptr;
    Expr* const out = make(ExprKind::unary, from, {operand});
    if (out == nullptr) return nullptr;
    out->op = word;
    out->name_span = span(from, from + 1);
    return out;
  }
  if (word == "(") {
    if (Expr* const cast = parse_cast(); cast != nullptr || at_ != from) return cast;
    return parse_postfix();
  }
  if (word == "sizeof" || word == "alignof" || word == "_Alignof" || word == "__alignof__" ||
      word == "__alignof")
    return parse_sized();
  if (word == "new" || (word == "::" && is(at_ + 1, "new"))) return parse_new();
  if (word == "delete" || word == "throw") {
    ++at_;
    if (word == "delete" && is(at_, "[") && is(at_ + 1, "]")) at_ += 2;
    std::vector<Expr*> args;
    if (!is(at_, ";") && !is(at_, "") && !is(at_, ")"))
      args.push_back(word == "delete" ? parse_unary() : parse_assignment());
    Expr* const out = make(ExprKind::unary, from, args);
    if (out == nullptr) return nullptr;
    out->op = word;
    return out;
  }
  if (word == "__extension__") {
    ++at_;
    return parse_unary();
  }
  return parse_postfix();
}

Expr* Parser::parse_postfix() {
  const std::size_t from = at_;
  return parse_postfix_of(parse_primary(), from);
}

Expr* Parser::parse_postfix_of(Expr* out, std::size_t from) {
  while (out != nullptr) {
    const std::string_view op = lex(at_).text;
    if (op == "(" || op == "[") {
      std::vector<Expr*> args{out};
      if (!parse_arguments(at_, args)) return nullptr;
      if (op == "[" && args.size() < 2) return nullptr;
      out = make(op == "(" ? ExprKind::call : ExprKind::subscript, from, args);
      if (out != nullptr && op == "(" && args[0]->is(ExprKind::name))
        out->of_macro = macros_.contains(args[0]->name);
    } else if (op == "<<<") {
      out = parse_launch(out, from);
    } else if (op == "." || op == "->") {
      out = parse_member(out, from);
    } else if (op == "++" || op == "--" ||
               (op == "..." && (is(at_ + 1, ",") || lex(at_ + 1).text.empty()))) {
      ++at_;
      Expr* const whole = make(ExprKind::postfix, from, {out});
      if (whole == nullptr) return nullptr;
      whole->op = op;
      whole->name_span = span(at_ - 1, at_);
      out = whole;
    } else {
      break;
    }
  }
  return out;
}

Expr* Parser::parse_launch(Expr* callee, std::size_t from) {
  ++at_;
  std::vector<Expr*> args{callee};
  while (!is(at_, ">>>")) {
    Expr* const argument = is(at_, "{") ? parse_braces() : parse_assignment();
    if (argument == nullptr) return nullptr;
    args.push_back(argument);
    if (is(at_, ",")) {
      ++at_;
    } else if (!is(at_, ">>>")) {
      return nullptr;
    }
  }
  ++at_;
  if (!is(at_, "(") || !parse_arguments(at_, args)) return nullptr;
  return make(ExprKind::launch, from, args);
}

Expr* Parser::parse_member(Expr* object, std::size_t from) {
  const std::size_t op = at_++;
  if (is(at_, "template")) ++at_;
  const std::size_t first = at_;
  if (is(at_, "~")) ++at_;
  if (is(at_, "operator")) {
    while (!is(at_, "(") && !lex(at_).text.empty()) ++at_;
  } else {
    at_ = scan_name(at_, false);
    if (at_ == kNone) {
      at_ = first;
      return nullptr;
    }
  }
  Expr* const out = make(ExprKind::member, from, {object});
  if (out == nullptr) return nullptr;
  out->op = lex(op).text;
  out->name = joined(first, at_);
  out->name_span = span(first, at_);
  return out;
}

Expr* Parser::parse_primary() {
  const std::size_t from = at_;
  const Lexeme& word = lex(at_);
  if (word.kind == TokenKind::number || word.kind == TokenKind::character) {
    ++at_;
    Expr* const out =
        make(word.kind == TokenKind::number ? ExprKind::number : ExprKind::literal, from, {});
    out->name = word.text;
    return out;
  }
  if (word.kind == TokenKind::string) {
    while (lex(at_).kind == TokenKind::string || (is_word(at_) && looks_like_macro(lex(at_).text) &&
                                                  lex(at_ + 1).kind == TokenKind::string))
      ++at_;
    Expr* const out = make(ExprKind::literal, from, {});
    out->name = word.text;
    return out;
  }
  if (word.text == "(") return parse_group();
  if (word.text == "[") return parse_lambda();
  if (word.text == "{") return parse_braces();
  if (is_named_cast(word.text)) return parse_named_cast();
  if (is_value_word(word.text)) {
    ++at_;
    Expr* const out = make(ExprKind::literal, from, {});
    out->name = word.text;
    return out;
  }
  return parse_name();
}

/// A name with its qualifiers and template arguments; with ( or { behind a type, a functional cast.
Expr* Parser::parse_name() {
  const std::size_t from = at_;
  const bool scoped = behind_type_function(at_) != kNone;
  if (!scoped &&
      (is_builtin_type_word(lex(at_).text) || is(at_, "typename") || is(at_, "decltype"))) {
    const TypeScan type = scan_type(at_);
    if (type.end == kNone || !(is(type.end, "(") || is(type.end, "{"))) return nullptr;
    at_ = type.end;
  } else {
    const std::size_t end = scan_name(at_, false);
    if (end == kNone) return nullptr;
    at_ = end;
  }
  const std::size_t end = at_;
  const bool known =
      is_known_type(from, end) || is(from, "typename") || (!scoped && is(from, "decltype"));
  const bool braces =
      is(end, "{") && (known || is(end - 1, ">") ||
                       (!looks_like_macro(lex(from).text) && !macros_.contains(lex(from).text)));
  if (braces || (is(end, "(") && known)) {
    std::vector<Expr*> args;
    if (!parse_arguments(end, args)) return nullptr;
    Expr* const out = make(ExprKind::cast, from, args);
    if (out == nullptr) return nullptr;
    out->op = braces ? "{" : "";
    out->type = span(from, end);
    return out;
  }
  Expr* const out = make(ExprKind::name, from, {});
  out->name = joined(from, end);
  out->name_span = span(from, end);
  return out;
}

Expr* Parser::parse_lambda() {
  const std::size_t from = at_;
  const std::size_t captures = close_of(at_);
  if (captures == kNone) return nullptr;
  std::size_t at = captures + 1;
  for (std::size_t looked = 0; !is(at, "{");
       ++looked) {  // parameters, mutable, __device__, -> type
    const std::string_view t = lex(at).text;
    if (t.empty() || t == ";" || t == ")" || t == "," || looked > 32) return nullptr;
    const std::size_t close = t == "(" ? close_of(at) : at;
    if (close == kNone) return nullptr;
    at = close + 1;
  }
  if (close_of(at) == kNone) return nullptr;
  at_ = at;
  Expr* const out = make(ExprKind::lambda, from, {});
  const Deeper deeper(*this);
  if (too_deep()) return nullptr;
  out->body = parse_block();
  out->span = out->outer = span(from, at_);
  return out->body == nullptr ? nullptr : out;
}

/// What stands in parentheses: an expression, or a fold of a pack: x + ..., ... + x, x + ... + y.
Expr* Parser::parse_fold() {
  const std::size_t from = at_;
  const auto folds = [&](std::size_t at) { return precedence(lex(at).text) > 0 || is(at, ","); };
  if (is(at_, "...") && folds(at_ + 1)) {
    at_ += 2;
    Expr* const operand = parse_unary();
    if (operand == nullptr) return nullptr;
    Expr* const out = make(ExprKind::unary, from, {operand});
    if (out != nullptr) out->op = "...";
    return out;
  }
  Expr* const pattern = parse_comma();
  if (pattern == nullptr || !folds(at_) || !is(at_ + 1, "...")) return pattern;
  std::vector<Expr*> args{pattern};
  at_ += 2;
  if (folds(at_)) {
    ++at_;
    args.push_back(parse_unary());
  }
  Expr* const out = make(ExprKind::postfix, from, args);
  if (out != nullptr) out->op = "...";
  return out;
}

/// ( expression ) or ({ statements }).
Expr* Parser::parse_group() {
  const std::size_t open = at_;
  const std::size_t close = close_of(open);
  if (close == kNone) return nullptr;
  const Deeper deeper(*this);
  if (too_deep()) return nullptr;
  Expr* out = nullptr;
  {
    const Limit limit(*this, close);
    at_ = open + 1;
    if (is(at_, "{")) {
      out = make(ExprKind::statement, open, {});
      out->body = parse_block();
      if (out->body == nullptr) out = nullptr;
    } else {
      out = parse_fold();
    }
  }
  if (out == nullptr || at_ != close) out = opaque_expression(open + 1, close);
  at_ = close + 1;
  if (out->kind == ExprKind::statement) out->span = span(open, at_);
  out->parenthesised = true;
  out->outer = span(open, at_);
  return out;
}

Expr* Parser::parse_braces() {
  const std::size_t from = at_;
  std::vector<Expr*> args;
  const Deeper deeper(*this);
  if (too_deep() || !parse_arguments(at_, args)) return nullptr;
  return make(ExprKind::init_list, from, args);
}

Expr* Parser::parse_argument() {
  const std::size_t from = at_;
  if (is(at_, "{")) return parse_braces();
  if (is(at_, ".") && is_word(at_ + 1) && is(at_ + 2, "=")) {
    at_ += 3;
    Expr* const value = parse_argument();
    if (value == nullptr) return nullptr;
    Expr* const out = make(ExprKind::designated, from, {value});
    if (out == nullptr) return nullptr;
    out->name = lex(from + 1).text;
    out->name_span = span(from + 1, from + 2);
    return out;
  }
  if (is_word(at_) || is(at_, "::")) {
    const TypeScan type = scan_type(at_);
    if (type.end != kNone && (type.certain || type.pointer) &&
        (is(type.end, ",") || lex(type.end).text.empty())) {
      at_ = type.end;
      Expr* const out = make(ExprKind::type, from, {});
      out->type = out->span;
      return out;
    }
  }
  return parse_assignment();
}

/// At an opening bracket: what is separated by commas in it, each opaque if not understood. False
/// if it has no end.
bool Parser::parse_arguments(std::size_t open, std::vector<Expr*>& out) {
  const std::size_t close = close_of(open);
  if (close == kNone) return false;
  const Deeper deeper(*this);
  if (too_deep()) return false;
  {
    const Limit limit(*this, close);
    at_ = open + 1;
    while (at_ < close) {
      const std::size_t from = at_;
      Expr* argument = parse_argument();
      if (argument == nullptr || (at_ < close && !is(at_, ","))) {
        std::size_t end = from;
        while (end < close && !is(end, ","))
          end = lex(end).match != kNone && lex(end).match > end ? lex(end).match + 1 : end + 1;
        argument = opaque_expression(from, std::min(end, close));
      }
      out.push_back(argument);
      if (at_ < close) ++at_;  // the comma
    }
  }
  at_ = close + 1;
  return true;
}

}  // namespace warpath::model
