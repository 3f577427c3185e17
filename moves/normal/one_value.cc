#include "moves/normal/one_value.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "engine/text/local_names.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

std::vector<const Expr*> uses_of(const KernelFacts& facts, const Declarator& variable) {
  std::vector<const Expr*> out;
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    const auto declared = facts.state->declared.find(&e);
    if (declared != facts.state->declared.end() && declared->second == &variable) out.push_back(&e);
    return true;
  });
  return out;
}

/// What stands before a statement happens before it, and every branch of the text is read.
bool runs_in_order(const KernelFacts& facts) {
  bool out = facts.kernel->opaque.empty();
  walk(*facts.kernel->body, [&](const Stmt& s) {
    out = out && !s.is(StmtKind::goto_) && !s.is(StmtKind::label);
    return out;
  });
  const std::string_view text = facts.unit->text(facts.kernel->body->span);
  for (const Token& t : tokenize(text).tokens) {
    const bool line = t.kind == TokenKind::directive;
    out = out && (!line || directive_name(text, t) == "pragma");
  }
  return out;
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

bool is_out_of_sight(const KernelFacts& facts, const Declarator& variable) {
  return !runs_in_order(facts) || is_said_by_macro(*facts.unit, variable.name) ||
         is_said_elsewhere(facts, variable.name);
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

/// Something may change the variable where the name stands, or let others do so.
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

/// Each of its uses reads the variable, but for those in `change`.
bool is_only_read(const KernelFacts& facts,
                  const Declarator& variable,
                  const std::vector<const Expr*>& uses,
                  const Expr* change = nullptr) {
  bool out = std::ranges::none_of(uses, [&](const Expr* use) {
    const bool own = change != nullptr && change->span.contains(use->span);
    return !own && may_change(*facts.unit, *use);
  });
  walk(*facts.kernel->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      if (d->reference && d->value() != nullptr && mentions(*d->value(), variable.name))
        out = false;
    }
    if (s.is(StmtKind::assembly) && mentions(s, variable.name)) out = false;
    return out;
  });
  return out;
}

/// A thread's index that only repeats another variable.
struct Copy {
  const Declarator* copy = nullptr;
  const Declarator* original = nullptr;
  std::vector<const Expr*> uses;
};

std::vector<Copy> copies(const KernelFacts& facts) {
  std::vector<Copy> out;
  const Unit& unit = *facts.unit;
  for (const ThreadIndex& index : facts.thread_indices) {
    const Declarator* const d = index.declarator;
    if (d == nullptr || d->value() == nullptr || !d->value()->is(ExprKind::name) || d->reference ||
        d->stmt == nullptr || d->stmt->declarators.size() != 1 || d->stmt->parent == nullptr ||
        !d->stmt->parent->is(StmtKind::block))
      continue;
    const auto original = facts.state->declared.find(d->value());
    if (original == facts.state->declared.end() || original->second == nullptr) continue;
    const Declarator& o = *original->second;
    const bool same = o.function == facts.kernel && !o.is_pointer() && !o.is_array() &&
                      !o.reference && !o.has(kAuto | kVolatile) && !d->has(kAuto | kVolatile) &&
                      unit.plain_text(o.type) == unit.plain_text(d->type);
    if (!same || facts.state->write_counts.contains(&o) || is_out_of_sight(facts, *d) ||
        is_out_of_sight(facts, o))
      continue;
    Copy one{d, &o, uses_of(facts, *d)};
    if (!is_only_read(facts, *d, one.uses) || !is_only_read(facts, o, uses_of(facts, o))) continue;
    const bool seen = std::ranges::all_of(one.uses, [&](const Expr* use) {
      return visible(unit, *facts.kernel, o.name, use->span.begin) == &o;
    });
    if (seen) out.push_back(std::move(one));
  }
  return out;
}

/// A pointer that one statement moves.
struct MovedOnce {
  const Declarator* pointer = nullptr;
  const Stmt* stmt = nullptr;
  const Expr* change = nullptr;
  std::vector<const Expr*> after;  ///< uses that see it moved
};

/// A thread comes to the statement at most once.
bool comes_once(const Stmt& stmt, const Stmt& body) {
  for (const Stmt* at = stmt.parent; at != &body; at = at->parent) {
    if (at == nullptr || !(at->is(StmtKind::block) || at->is(StmtKind::if_))) return false;
  }
  return true;
}

std::vector<MovedOnce> moved_once(const KernelFacts& facts) {
  std::vector<MovedOnce> out;
  for (const Write& write : facts.state->writes) {
    const Declarator* const d = write.variable;
    if (d == nullptr || d->pointer_depth != 1 || d->is_array() || d->reference ||
        d->has(kVolatile | kShared | kAuto) || write.partial || write.escapes ||
        write.node == nullptr || write.stmt == nullptr)
      continue;
    const Stmt& s = *write.stmt;
    const Expr& e = *write.node;
    const bool moves =
        s.is(StmtKind::expression) && s.expr == &e && e.is(ExprKind::assign) &&
        e.args.size() == 2 && e.arg(0).is_name(d->name) &&
        (e.op == "+=" || e.op == "-=" || (e.op == "=" && mentions(e.arg(1), d->name)));
    const auto times = facts.state->write_counts.find(d);
    if (!moves || s.parent == nullptr || !s.parent->is(StmtKind::block) ||
        times == facts.state->write_counts.end() || times->second != 1 ||
        !comes_once(s, *facts.kernel->body) || is_out_of_sight(facts, *d))
      continue;
    MovedOnce one{d, &s, &e, {}};
    const std::vector<const Expr*> uses = uses_of(facts, *d);
    bool inside = is_only_read(facts, *d, uses, &e);
    for (const Expr* use : uses) {
      if (use->span.begin < s.span.end) continue;
      inside = inside && s.parent->span.contains(use->span);
      one.after.push_back(use);
    }
    if (inside && !one.after.empty()) out.push_back(std::move(one));
  }
  return out;
}

/// As an operand of +, the text is one operand: a name, a number or a product of such.
bool is_term(const Unit& unit, const Expr& e) {
  if (e.is(ExprKind::number)) return true;
  if (e.is(ExprKind::name)) return unit.macro(e.name) == nullptr;
  if (e.is(ExprKind::member)) return e.op == "." && is_term(unit, e.arg(0));
  return e.is_op(ExprKind::binary, "*") && is_term(unit, e.arg(0)) && is_term(unit, e.arg(1));
}

}  // namespace

std::size_t second_names(const KernelFacts& facts) {
  return copies(facts).size() + moved_once(facts).size();
}

bool one_value(const NormalSite& site, std::vector<Edit>& edits) {
  const Unit& unit = site.unit;
  if (const std::vector<Copy> found = copies(site.facts); !found.empty()) {
    const Copy& one = found.front();
    const Span lines = whole_lines(unit, one.copy->stmt->span);
    edits.push_back({lines.begin, lines.end, ""});
    for (const Expr* use : one.uses)
      edits.push_back({use->span.begin, use->span.end, std::string(one.original->name)});
    return true;
  }
  const std::vector<MovedOnce> found = moved_once(site.facts);
  if (found.empty()) return false;
  const MovedOnce& one = found.front();
  const Declarator& d = *one.pointer;
  const Expr& e = *one.change;
  const std::string old(d.name), now = fresh_name(unit, old + "_at");
  const std::string value(unit.plain_text(e.arg(1).outer));
  const bool sum = e.op == "=";
  // without them, the pointer would be moved step by step, by sums that do not wrap round
  const std::string by =
      is_term(unit, e.arg(1)) || e.arg(1).parenthesised ? value : "(" + value + ")";
  edits.push_back({one.stmt->span.begin, one.stmt->span.end,
                   (d.has(kConst) ? "const " : "") + std::string(unit.plain_text(d.type)) + "* " +
                       now + " = " + (sum ? value : old + (e.op == "+=" ? " + " : " - ") + by) +
                       ";"});
  for (const Expr* use : one.after) edits.push_back({use->span.begin, use->span.end, now});
  return true;
}

}  // namespace warpath
