#include "moves/normal/variable_uses.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "engine/text/tokens.h"
#include "moves/model/facts_state.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// Of braces in parentheses the last expression is the value.
bool has_statement_expressions(const KernelFacts& facts) {
  const std::string_view text = facts.unit->text(facts.kernel->body->span);
  bool open = false, found = false;
  for (const Token& t : tokenize(text).tokens) {
    found = found || (open && spelling(text, t) == "{");
    open = spelling(text, t) == "(";
  }
  return found;
}

/// What stands before a statement happens before it, and every branch of the text is read.
bool runs_in_order(const KernelFacts& facts) {
  bool out = facts.kernel->opaque.empty();
  walk(*facts.kernel->body, [&](const Stmt& s) {
    out = out && !s.is(StmtKind::goto_) && !s.is(StmtKind::label);
    return out;
  });
  return out && is_read_whole(facts) && !has_statement_expressions(facts);
}

/// A reference is bound to what says the name, or another variable has it.
bool has_double(const KernelFacts& facts, const Declarator& variable) {
  bool found = false;
  const auto look = [&](const Declarator& d) {
    found = found || (&d != &variable && d.name == variable.name) ||
            (d.reference && std::ranges::any_of(d.init, [&](const Expr* e) {
               return mentions(*e, variable.name);
             }));
  };
  for (const Declarator* d : facts.kernel->parameters) look(*d);
  walk(*facts.kernel->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) look(*d);
    return !found;
  });
  return found;
}

/// The name stands in a lambda, or where it is no expression of its own: in a type, a capture.
bool is_said_elsewhere(const KernelFacts& facts, std::string_view name) {
  const Stmt& body = *facts.kernel->body;
  std::set<std::size_t> known;
  std::vector<Span> lambdas;
  walk_expressions(body, [&](const Expr& e) {
    if (e.is(ExprKind::lambda)) lambdas.push_back(e.span);
    if (e.is_name(name) || (e.is(ExprKind::member) && e.name == name))
      known.insert(e.name_span.empty() ? e.span.begin : e.name_span.begin);
    return true;
  });
  walk(body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) known.insert(d->name_span.begin);
    return true;
  });
  const std::string_view text = facts.unit->text(body.span);
  return std::ranges::any_of(tokenize(text).tokens, [&](const Token& t) {
    if (t.kind != TokenKind::identifier || spelling(text, t) != name) return false;
    const Span at{body.span.begin + t.begin, body.span.begin + t.end};
    return !known.contains(at.begin) ||
           std::ranges::any_of(lambdas, [&](Span lambda) { return lambda.contains(at); });
  });
}

bool is_scalar(const Unit& unit, Span type) {
  const std::string words = unit.resolved_type(unit.plain_text(type));
  return size_of_type(words) != 0 || words == "auto";
}

/// What is made of the value could keep a reference to the variable: it is an object of a class.
bool may_be_kept(const Unit& unit, const Expr& value) {
  const Expr* at = &value;
  while (at->parent != nullptr &&
         (at->parent->is(ExprKind::init_list) || at->parent->is(ExprKind::designated)))
    at = at->parent;
  if (at->parent != nullptr) return at != &value;
  if (at->stmt == nullptr) return true;
  for (const Declarator* d : at->stmt->declarators) {
    if (std::ranges::find(d->init, at) != d->init.end())
      return !d->is_pointer() && !is_scalar(unit, d->type);
  }
  return at != &value;
}

}  // namespace

std::vector<const Expr*> uses_of(const KernelFacts& facts, const Declarator& variable) {
  std::vector<const Expr*> out;
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    const auto declared = facts.state->declared.find(&e);
    if (declared != facts.state->declared.end() && declared->second == &variable) out.push_back(&e);
    return true;
  });
  return out;
}

bool is_read_whole(const KernelFacts& facts) {
  const std::string_view text = facts.unit->text(facts.kernel->body->span);
  return std::ranges::none_of(tokenize(text).tokens, [&](const Token& t) {
    return t.kind == TokenKind::directive && directive_name(text, t) != "pragma";
  });
}

bool declares_types(const KernelFacts& facts) {
  constexpr std::array<std::string_view, 6> kWords{"using", "typedef", "struct",
                                                   "class", "union",   "enum"};
  const std::string_view text = facts.unit->text(facts.kernel->body->span);
  return std::ranges::any_of(tokenize(text).tokens, [&](const Token& t) {
    return std::ranges::find(kWords, spelling(text, t)) != kWords.end();
  });
}

bool is_out_of_sight(const KernelFacts& facts, const Declarator& variable) {
  return !runs_in_order(facts) || has_double(facts, variable) ||
         is_said_by_macro(*facts.unit, variable.name) || is_said_elsewhere(facts, variable.name);
}

bool may_change(const Unit& unit, const Expr& use) {
  const Expr* at = &use;
  for (; at->parent != nullptr; at = at->parent) {
    const Expr& up = *at->parent;
    const bool passes = up.is(ExprKind::comma) || up.is(ExprKind::cast) ||
                        (up.is(ExprKind::conditional) && &up.arg(0) != at);
    if (!passes) break;
    if (up.is(ExprKind::cast) && size_of_type(unit.resolved_type(plain_type(up))) == 0 &&
        !plain_type(up).ends_with('*'))
      return true;
  }
  if (may_be_kept(unit, *at)) return true;
  if (at->parent == nullptr) return false;
  const Expr& up = *at->parent;
  return (up.is(ExprKind::assign) && &up.arg(0) == at) || up.is(ExprKind::postfix) ||
         up.is_op(ExprKind::unary, "++") || up.is_op(ExprKind::unary, "--") ||
         up.is_op(ExprKind::unary, "&") || up.is(ExprKind::lambda) || up.is(ExprKind::opaque) ||
         up.is(ExprKind::new_object) ||
         (up.is(ExprKind::call) && !is_pure_function(unit, callee(up)));
}

bool sets(const Expr& use) {
  const Expr* const up = use.parent;
  return up != nullptr &&
         ((up->is(ExprKind::assign) && &up->arg(0) == &use) || up->is(ExprKind::postfix) ||
          up->is_op(ExprKind::unary, "++") || up->is_op(ExprKind::unary, "--"));
}

bool goes_by_its_name(const KernelFacts& facts,
                      const Declarator& variable,
                      const std::vector<const Expr*>& uses) {
  const bool escapes = std::ranges::any_of(facts.state->writes, [&](const Write& write) {
    return write.variable == &variable && write.escapes;
  });
  return !escapes && !variable.reference && !variable.has(kVolatile) &&
         std::ranges::all_of(
             uses, [&](const Expr* use) { return sets(*use) || !may_change(*facts.unit, *use); }) &&
         !is_out_of_sight(facts, variable);
}

}  // namespace warpath
