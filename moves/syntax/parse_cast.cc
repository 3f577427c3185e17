#include "moves/syntax/parser.h"

namespace warpath::model {

Expr* Parser::parse_sized() {
  const std::size_t from = at_++;
  if (is(at_, "...")) ++at_;
  if (is(at_, "(")) {
    const std::size_t close = close_of(at_);
    if (close == kNone) return nullptr;
    const TypeScan type = scan_type(at_ + 1);
    if (type.end == close &&
        (type.certain || type.pointer || !variables_.contains(lex(at_ + 1).text))) {
      const Span words = span(at_ + 1, close);
      at_ = close + 1;
      Expr* const out = make(ExprKind::size_of, from, {});
      out->op = lex(from).text;
      out->type = words;
      return out;
    }
  }
  Expr* const operand = parse_unary();
  if (operand == nullptr) return nullptr;
  Expr* const out = make(ExprKind::size_of, from, {operand});
  if (out != nullptr) out->op = lex(from).text;
  return out;
}

Expr* Parser::parse_new() {
  const std::size_t from = at_;
  if (is(at_, "::")) ++at_;
  ++at_;
  std::vector<Expr*> args;
  if (is(at_, "(") && !parse_arguments(at_, args)) return nullptr;  // placement
  const std::size_t first = at_;
  const TypeScan type = scan_type(at_);
  if (type.end == kNone) return nullptr;
  at_ = type.end;
  const Span words = span(first, at_);
  while (is(at_, "[")) {
    if (!parse_arguments(at_, args)) return nullptr;
  }
  if ((is(at_, "(") || is(at_, "{")) && !parse_arguments(at_, args)) return nullptr;
  Expr* const out = make(ExprKind::new_object, from, args);
  if (out != nullptr) out->type = words;
  return out;
}

/// At "(": a C-style cast. Null with at_ unmoved if it is none.
Expr* Parser::parse_cast() {
  const std::size_t from = at_;
  const std::size_t close = close_of(at_);
  if (close == kNone) return nullptr;
  const TypeScan type = scan_type(at_ + 1);
  if (type.end != close) return nullptr;
  const Lexeme& next = lex(close + 1);
  const bool certain = type.certain || type.pointer;
  if (!certain) {
    // (name) before an operand: nothing but a cast makes sense, unless the name is a variable being
    // called.
    const bool operand = next.kind == TokenKind::number || next.kind == TokenKind::string ||
                         next.kind == TokenKind::character ||
                         (next.kind == TokenKind::identifier && precedence(next.text) == 0 &&
                          !is_assignment(next.text)) ||
                         next.text == "~" || next.text == "!" ||
                         (next.text == "(" && !variables_.contains(lex(at_ + 1).text));
    if (!operand) return nullptr;
  } else {
    const std::string_view t = next.text;
    const bool ends = t.empty() || t == ")" || t == "," || t == ";" || t == "]" || t == "}" ||
                      t == ":" || t == "?" || t == "=";
    if (ends || (precedence(t) > 0 && !is_prefix(t))) return nullptr;
  }
  const Span words = span(at_ + 1, close);
  at_ = close + 1;
  Expr* const operand = is(at_, "{") ? parse_braces() : parse_unary();
  if (operand == nullptr) return nullptr;
  Expr* const out = make(ExprKind::cast, from, {operand});
  if (out == nullptr) return nullptr;
  out->op = "(";
  out->type = words;
  return out;
}

Expr* Parser::parse_named_cast() {
  const std::size_t from = at_;
  const std::size_t behind = template_close(at_ + 1, true);
  if (behind == kNone || !is(behind, "(")) return nullptr;
  const Span words = span(at_ + 2, behind - 1);
  std::vector<Expr*> args;
  if (!parse_arguments(behind, args) || args.size() != 1) return nullptr;
  Expr* const out = make(ExprKind::cast, from, args);
  if (out == nullptr) return nullptr;
  out->op = lex(from).text;
  out->type = words;
  out->name_span = span(from, from + 1);
  return out;
}

}  // namespace warpath::model
