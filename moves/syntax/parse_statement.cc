#include <algorithm>

#include "moves/syntax/parser.h"

namespace warpath::model {
namespace {

bool is_asm(std::string_view word) {
  return word == "asm" || word == "__asm__" || word == "__asm";
}

}  // namespace

Stmt* Parser::begin_statement(StmtKind kind, std::size_t from) {
  Stmt* const out = s_.make<Stmt>();
  out->kind = kind;
  out->parent = stmt_;
  out->function = function_;
  out->span = span(from, from + 1);
  return out;
}

Stmt* Parser::finish(Stmt* stmt, std::size_t from) {
  stmt->span = span(from, at_);
  return stmt;
}

bool Parser::semicolon() {
  if (!is(at_, ";")) return false;
  ++at_;
  return true;
}

/// Makes statements of the directives that stand here; returns the last if it is a pragma.
Stmt* Parser::directives_before(std::vector<Stmt*>* into) {
  Stmt* pragma = nullptr;
  while (next_directive_ < s_.directives.size() && s_.directives[next_directive_].before <= at_) {
    const DirectiveLine& line = s_.directives[next_directive_++];
    if (line.before < at_) continue;
    Stmt* const out = begin_statement(StmtKind::directive, at_);
    out->span = line.span;
    out->name = line.name;
    pragma = line.name == "pragma" ? out : nullptr;
    if (into != nullptr) into->push_back(out);
  }
  return pragma;
}

/// A body that is no block may have directives of its own before it.
Stmt* Parser::body_of(Stmt& owner) {
  const Stmt* const outer = stmt_;
  stmt_ = &owner;
  Stmt* const out = parse_statement();
  stmt_ = outer;
  return out;
}

/// From `from`, where something was not understood, to behind the next ; or braces on this level.
Stmt* Parser::opaque_statement(std::size_t from) {
  std::size_t end = from;
  while (end < limit_) {
    const std::string_view t = lex(end).text;
    const std::size_t close = lex(end).match;
    const bool opens = close != kNone && close > end;
    if (t == "}") break;
    end = opens ? std::min(close + 1, limit_) : end + 1;
    if (t == ";") break;
    if (t == "{" && !is(end, ";") && !is(end, ",") && !is(end, ")") && !is(end, ".") &&
        !is(end, "else"))
      break;
  }
  at_ = std::max(end, from + 1);
  if (at_ > limit_) at_ = limit_;
  Stmt* const out = finish(begin_statement(StmtKind::opaque, from), from);
  note_opaque(out->span);
  return out;
}

Stmt* Parser::parse_statement() {
  const Deeper deeper(*this);
  const Deeper statements_count_twice(*this);
  const std::size_t from = at_;
  if (too_deep()) return opaque_statement(from);
  const Stmt* const noted = pending_pragma_;
  pending_pragma_ = nullptr;
  const Stmt* const here = directives_before(nullptr);
  const Stmt* const pragma = here != nullptr ? here : noted;
  while (is(at_, "[") && is(at_ + 1, "[") && skip_attribute()) {
  }
  const std::size_t opaque_before = s_.opaque.size();
  const std::size_t start = at_;
  const Stmt* const outer = stmt_;
  Stmt* out = at_ < limit_ ? parse_keyword() : nullptr;
  stmt_ = outer;
  if (out == nullptr) {
    s_.opaque.resize(opaque_before);
    return opaque_statement(start);
  }
  if (out->is_loop()) out->pragma = pragma;
  return out;
}

Stmt* Parser::parse_keyword() {
  const std::string_view word = lex(at_).text;
  if (word == "{") return parse_block();
  if (word == ";") {
    ++at_;
    return finish(begin_statement(StmtKind::empty, at_ - 1), at_ - 1);
  }
  if (word == "::" && starts_declaration(at_)) return parse_declaration();
  if (!is_word(at_)) return parse_expression_statement();
  if (word == "if") return parse_if();
  if (word == "for") return parse_for();
  if (word == "while") return parse_while();
  if (word == "do") return parse_do();
  if (word == "switch") return parse_switch();
  if (word == "case" || (word == "default" && is(at_ + 1, ":"))) return parse_case();
  if (word == "return" || word == "co_return") return parse_return();
  if (word == "break") return parse_simple(StmtKind::break_);
  if (word == "continue") return parse_simple(StmtKind::continue_);
  if (word == "goto") return parse_goto();
  if (word == "try") return parse_try();
  if (is_asm(word)) return parse_asm();
  if (word == "using" || word == "typedef" || word == "static_assert" || word == "_Static_assert" ||
      word == "namespace") {
    return parse_text_declaration();
  }
  if (word == "_Pragma") {
    const std::size_t from = at_;
    const std::size_t close = is(at_ + 1, "(") ? close_of(at_ + 1) : kNone;
    if (close == kNone) return nullptr;
    Stmt* const out = begin_statement(StmtKind::directive, from);
    out->name = "pragma";
    at_ = close + 1;
    return finish(out, from);
  }
  if (is(at_ + 1, ":") && !is_statement_word(word)) return parse_label();
  const bool macro_word = is_macro_word(at_);
  if (!macro_word && starts_declaration(at_)) return parse_declaration();
  return parse_expression_statement();
}

Stmt* Parser::parse_block() {
  const std::size_t from = at_;
  const std::size_t close = close_of(from);
  if (close == kNone) return nullptr;
  const Deeper deeper(*this);
  if (too_deep()) return nullptr;
  Stmt* const out = begin_statement(StmtKind::block, from);
  const Stmt* const outer = stmt_;
  stmt_ = out;
  std::vector<Stmt*> children;
  {
    const Limit limit(*this, close);
    at_ = from + 1;
    while (at_ < close) {
      pending_pragma_ = directives_before(&children);
      const std::size_t before = at_;
      children.push_back(parse_statement());
      if (at_ <= before) at_ = before + 1;
    }
    at_ = close;
    directives_before(&children);
  }
  at_ = close + 1;
  out->children = s_.keep(children);
  stmt_ = outer;
  return finish(out, from);
}

Stmt* Parser::parse_simple(StmtKind kind) {
  const std::size_t from = at_++;
  return semicolon() ? finish(begin_statement(kind, from), from) : nullptr;
}

/// `( [init;] condition )` at `open`; sets init and expr. Returns the owner, null if not
/// understood.
Stmt* Parser::parse_condition(Stmt& owner, std::size_t open) {
  const std::size_t close = is(open, "(") ? close_of(open) : kNone;
  if (close == kNone) return nullptr;
  const Limit limit(*this, close);
  at_ = open + 1;
  std::size_t semicolon_at = at_;
  while (semicolon_at < close && !is(semicolon_at, ";"))
    semicolon_at = close_of(semicolon_at) != kNone ? close_of(semicolon_at) + 1 : semicolon_at + 1;
  if (semicolon_at < close) {
    owner.init = parse_initialising_statement();
    stmt_ = &owner;
    if (owner.init == nullptr || !semicolon()) return nullptr;
  }
  if (starts_declaration(at_)) {
    if (owner.init != nullptr) return nullptr;  // a declaration is the condition of another
    owner.init = parse_initialising_statement();
    stmt_ = &owner;
    if (owner.init == nullptr) return nullptr;
  } else {
    owner.expr = parse_comma();
    if (owner.expr == nullptr) return nullptr;
  }
  if (at_ != close) return nullptr;
  at_ = close + 1;
  return &owner;
}

/// A declaration or an expression in the head of a statement, without its semicolon.
Stmt* Parser::parse_initialising_statement() {
  const std::size_t from = at_;
  const bool declares = starts_declaration(at_);
  Stmt* const out = begin_statement(declares ? StmtKind::declaration : StmtKind::expression, from);
  stmt_ = out;
  if (declares) {
    Specifiers specifiers;
    std::vector<Declarator*> declarators;
    if (!parse_specifiers(specifiers, limit_) || !parse_declarators(specifiers, declarators))
      return nullptr;
    out->declarators = s_.keep(declarators);
  } else if (!is(at_, ";")) {
    out->expr = parse_comma();
    if (out->expr == nullptr) return nullptr;
  }
  return finish(out, from);
}

Stmt* Parser::parse_if() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::if_, from);
  stmt_ = out;
  if (is(at_, "constexpr") || is(at_, "IF_CONSTEXPR")) {
    out->constexpr_if = true;
    ++at_;
  }
  while (is(at_, "!") || is(at_, "consteval")) ++at_;
  if (parse_condition(*out, at_) == nullptr) return nullptr;
  out->header = span(from, at_);
  while (is(at_, "[") && is(at_ + 1, "[") && skip_attribute()) {
  }
  out->body = body_of(*out);
  if (is(at_, "else")) {
    ++at_;
    out->otherwise = body_of(*out);
  }
  return finish(out, from);
}

bool Parser::parse_for_header(Stmt& out, std::size_t open) {
  const std::size_t close = is(open, "(") ? close_of(open) : kNone;
  if (close == kNone) return false;
  const Limit limit(*this, close);
  at_ = open + 1;
  if (starts_declaration(at_)) {
    const std::size_t from = at_;
    Stmt* const declaration = begin_statement(StmtKind::declaration, from);
    stmt_ = declaration;
    Specifiers specifiers;
    std::vector<Declarator*> declarators;
    if (!parse_specifiers(specifiers, close) || !parse_declarators(specifiers, declarators))
      return false;
    declaration->declarators = s_.keep(declarators);
    stmt_ = &out;
    out.init = declaration;
    if (is(at_, ":")) {
      finish(declaration, from);
      out.kind = StmtKind::range_for;
      ++at_;
      out.expr = is(at_, "{") ? parse_braces() : parse_comma();
      if (out.expr == nullptr || at_ != close) return false;
      at_ = close + 1;
      return true;
    }
    if (!semicolon()) return false;
    finish(declaration, from);
  } else if (!semicolon()) {
    const std::size_t from = at_;
    Stmt* const first = begin_statement(StmtKind::expression, from);
    stmt_ = first;
    first->expr = parse_comma();
    stmt_ = &out;
    if (first->expr == nullptr || !semicolon()) return false;
    out.init = finish(first, from);
  }
  if (!is(at_, ";")) {
    out.expr = parse_comma();
    if (out.expr == nullptr) return false;
  }
  if (!semicolon()) return false;
  if (at_ < close) {
    out.step = parse_comma();
    if (out.step == nullptr || at_ != close) return false;
  }
  at_ = close + 1;
  return true;
}

Stmt* Parser::parse_for() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::for_, from);
  stmt_ = out;
  if (!parse_for_header(*out, at_)) return nullptr;
  out->header = span(from, at_);
  out->body = body_of(*out);
  return finish(out, from);
}

Stmt* Parser::parse_while() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::while_, from);
  stmt_ = out;
  if (parse_condition(*out, at_) == nullptr) return nullptr;
  out->header = span(from, at_);
  out->body = body_of(*out);
  return finish(out, from);
}

Stmt* Parser::parse_do() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::do_, from);
  stmt_ = out;
  out->body = body_of(*out);
  if (!is(at_, "while")) return nullptr;
  const std::size_t head = at_++;
  if (parse_condition(*out, at_) == nullptr) return nullptr;
  out->header = span(head, at_);
  semicolon();
  return finish(out, from);
}

Stmt* Parser::parse_switch() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::switch_, from);
  stmt_ = out;
  if (parse_condition(*out, at_) == nullptr) return nullptr;
  out->header = span(from, at_);
  if (!is(at_, "{")) return nullptr;  // what a label without a block stands before is its neighbour
  out->body = body_of(*out);
  return finish(out, from);
}

Stmt* Parser::parse_case() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::case_, from);
  stmt_ = out;
  if (!is(at_, ":")) {
    out->expr = parse_binary(1);
    if (is(at_, "...")) {
      ++at_;
      if (parse_binary(1) == nullptr) return nullptr;
    }
    if (out->expr == nullptr || !is(at_, ":")) return nullptr;
  }
  ++at_;
  return finish(out, from);
}

Stmt* Parser::parse_return() {
  const std::size_t from = at_++;
  Stmt* const out = begin_statement(StmtKind::return_, from);
  stmt_ = out;
  if (!is(at_, ";")) {
    out->expr = is(at_, "{") ? parse_braces() : parse_comma();
    if (out->expr == nullptr) return nullptr;
  }
  return semicolon() ? finish(out, from) : nullptr;
}

}  // namespace warpath::model
