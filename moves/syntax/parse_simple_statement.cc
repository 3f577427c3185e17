#include "moves/syntax/parser.h"

namespace warpath::model {

Stmt* Parser::parse_goto() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::goto_, from);
  out->name = lex(at_).text;
  ++at_;
  return semicolon() ? finish(out, from) : nullptr;
}

Stmt* Parser::parse_label() {
  const std::size_t from = at_;
  Stmt* const out = begin_statement(StmtKind::label, from);
  out->name = lex(at_).text;
  at_ += 2;
  return finish(out, from);
}

/// asm volatile("..." : "=r"(out) : "r"(in) : "memory");
Stmt* Parser::parse_asm() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::assembly, from);
  stmt_ = out;
  while (is(at_, "volatile") || is(at_, "__volatile__") || is(at_, "__volatile") ||
         is(at_, "goto") || is(at_, "inline"))
    ++at_;
  const std::size_t close = is(at_, "(") ? close_of(at_) : kNone;
  if (close == kNone) return nullptr;
  std::vector<Expr*> operands;
  int section = 0;
  for (++at_; at_ < close;) {
    if (is(at_, ":") || is(at_, "::")) {
      section += static_cast<int>(lex(at_).text.size());
      ++at_;
    } else if (is(at_, "(") && section > 0) {
      const std::size_t before = operands.size();
      if (!parse_arguments(at_, operands)) return nullptr;
      if (section == 1) out->outputs += operands.size() - before;
    } else {
      const std::size_t group = lex(at_).match;
      at_ = group != kNone && group > at_ ? group + 1 : at_ + 1;
    }
  }
  at_ = close + 1;
  out->operands = s_.keep(operands);
  semicolon();
  return finish(out, from);
}

Stmt* Parser::parse_try() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::try_, from);
  stmt_ = out;
  if (!is(at_, "{")) return nullptr;
  out->body = parse_block();
  if (out->body == nullptr) return nullptr;
  while (is(at_, "catch") && is(at_ + 1, "(") && close_of(at_ + 1) != kNone) {
    at_ = close_of(at_ + 1) + 1;
    if (!is(at_, "{") || parse_block() == nullptr) return nullptr;
  }
  return finish(out, from);
}

Stmt* Parser::parse_text_declaration() {
  const std::size_t from = at_;
  std::size_t end = from;
  while (end < limit_ && !is(end, ";"))
    end = lex(end).match != kNone && lex(end).match > end ? lex(end).match + 1 : end + 1;
  if (end >= limit_) return nullptr;
  if (is(from, "using") || is(from, "typedef")) note_alias(from, end);
  Stmt* const out = begin_statement(StmtKind::declaration, from);
  out->text_only = true;
  at_ = end + 1;
  return finish(out, from);
}

Stmt* Parser::parse_declaration() {
  const std::size_t from = at_;
  Stmt* const out = begin_statement(StmtKind::declaration, from);
  stmt_ = out;
  Specifiers specifiers;
  if (!parse_specifiers(specifiers, limit_)) return nullptr;
  if (is(at_, ";")) {  // struct S { ... };
    ++at_;
    out->text_only = true;
    return finish(out, from);
  }
  std::vector<Declarator*> declarators;
  if (is_word(at_) && is(at_ + 1, "(") && looks_like_parameters(at_ + 1)) {  // a prototype
    const std::size_t close = close_of(at_ + 1);
    if (is(close + 1, ";")) {
      at_ = close + 2;
      out->text_only = true;
      return finish(out, from);
    }
  }
  if (!parse_declarators(specifiers, declarators) || !semicolon()) return nullptr;
  out->declarators = s_.keep(declarators);
  return finish(out, from);
}

/// A macro without arguments before a statement: one that stands for a pragma or the head of a
/// statement, or an unknown one alone on its line.
bool Parser::is_macro_word(std::size_t at) const {
  const std::string_view word = lex(at).text;
  if (is(at + 1, "(")) return false;
  if (statement_macros_.contains(word)) return true;
  return looks_like_macro(word) && is_word(at) && is_word(at + 1) && lex(at + 1).first_on_line &&
         !s_.types.contains(word) && !variables_.contains(word);
}

/// An expression and its ;. A macro call or word may stand without one.
Stmt* Parser::parse_expression_statement() {
  const std::size_t from = at_;
  Stmt* const out = begin_statement(StmtKind::expression, from);
  stmt_ = out;
  const bool word = is_macro_word(from);
  if (word) {  // a macro before a statement: the rest is not its operand
    ++at_;
    Expr* const name = make(ExprKind::name, from, {});
    name->name = lex(from).text;
    name->name_span = name->span;
    out->expr = name;
  } else {
    out->expr = parse_comma();
  }
  if (out->expr == nullptr) return nullptr;
  if (!word && semicolon()) return finish(out, from);
  return parse_macro(out, from);
}

/// What ends without ; is a macro, alone on its line or in front of a statement.
Stmt* Parser::parse_macro(Stmt* out, std::size_t from) {
  const bool call = out->expr->kind == ExprKind::call || out->expr->kind == ExprKind::name;
  const std::string_view name = lex(from).text;
  const bool defined = macros_.contains(name);
  if (!call || !(defined || looks_like_macro(name))) return nullptr;
  const bool statement_follows =
      is(at_, "{") || is(at_, "for") || is(at_, "while") || is(at_, "if") || is(at_, "do");
  const bool governs = is(at_, "{") || (defined && !is(at_, "") && !lex(at_).first_on_line);
  if (!governs && !statement_follows && !lex(at_).first_on_line && !is(at_, "")) return nullptr;
  if (!governs) return finish(out, from);
  out->kind = StmtKind::macro;
  out->header = span(from, at_);
  out->body = body_of(*out);
  return finish(out, from);
}

}  // namespace warpath::model
