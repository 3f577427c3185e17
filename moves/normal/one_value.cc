#include "moves/normal/one_value.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/text/local_names.h"
#include "engine/text/tokens.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/variable_uses.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

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

/// A variable that a loop moves on by the same amount at the end of each iteration.
struct MovedByLoop {
  const Declarator* variable = nullptr;
  const Loop* loop = nullptr;
  const Expr* change = nullptr;
  const Expr* amount = nullptr;   ///< null: 1
  std::vector<const Expr*> uses;  ///< in the body, in front of the change
};

/// The change is a statement of the loop's body, or an operand of the commas in its step.
bool ends_iteration(const Expr& change, const Stmt& loop) {
  if (change.stmt != nullptr && change.stmt->is(StmtKind::expression) &&
      change.stmt->expr == &change && change.stmt->parent == loop.body)
    return loop.body->is(StmtKind::block);
  const Expr* at = &change;
  while (at->parent != nullptr && at->parent->is(ExprKind::comma) && !at->parenthesised)
    at = at->parent;
  return at != &change && at == loop.step && !at->parenthesised && !change.parenthesised;
}

/// Where nothing sets it by its name it keeps its value.
bool is_constant(const KernelFacts& facts, const Declarator& d) {
  if (d.has(kShared)) return false;
  if (d.function == facts.kernel) return goes_by_its_name(facts, d, uses_of(facts, d));
  return d.function == nullptr && !d.reference && d.has(kConst | kConstexpr | kConstant);
}

/// An expression of names from outside of the loop, which it does not change, and numbers.
bool is_fixed_in(const KernelFacts& facts, const Expr& e, const Stmt& loop) {
  const std::vector<std::string> written = facts.names_written(loop);
  bool out = is_pure(*facts.unit, e);
  walk(e, [&](const Expr& part) {
    const bool of_thread = part.is(ExprKind::member) && part.op == "." &&
                           part.arg(0).is(ExprKind::name) &&
                           !facts.state->declared.contains(&part.arg(0));
    const bool plain = part.is(ExprKind::name) || part.is(ExprKind::number) ||
                       part.is(ExprKind::binary) || of_thread ||
                       (part.is(ExprKind::unary) && (part.op == "-" || part.op == "+"));
    out = out && plain && !(part.is(ExprKind::name) && std::ranges::count(written, part.name) > 0);
    const auto d = facts.state->declared.find(&part);
    const bool own = d != facts.state->declared.end() && d->second->stmt != nullptr &&
                     loop.span.contains(d->second->stmt->span);
    const Macro* const macro = part.is(ExprKind::name) ? facts.unit->macro(part.name) : nullptr;
    out = out && !own && (macro == nullptr || macro->value.has_value()) &&
          (d == facts.state->declared.end() || is_constant(facts, *d->second));
    return out;
  });
  return out;
}

/// Some word of the loop is a macro that says more than a number: a statement, or a variable.
bool says_by_macros(const Unit& unit, Span loop) {
  const auto says_more = [&](const Macro& macro) {
    if (macro.function_like || macro.value) return false;
    const std::vector<Token> words = tokenize(macro.body).tokens;
    return std::ranges::any_of(words, [&](const Token& t) {
      const std::string_view word = spelling(macro.body, t);
      return t.kind == TokenKind::identifier || word == ";" || word == "++" || word == "--" ||
             word.ends_with('=');
    });
  };
  const std::string_view text = unit.text(loop);
  return std::ranges::any_of(tokenize(text).tokens, [&](const Token& t) {
    const Macro* const macro =
        t.kind == TokenKind::identifier ? unit.macro(spelling(text, t)) : nullptr;
    return macro != nullptr && says_more(*macro);
  });
}

std::optional<MovedByLoop> moved_by(const KernelFacts& facts,
                                    const Loop& loop,
                                    const Write& write) {
  const Unit& unit = *facts.unit;
  const Declarator& d = *write.variable;
  const Stmt& stmt = *loop.stmt;
  if (write.node == nullptr || write.escapes || write.partial || d.function != facts.kernel ||
      d.is_array() || d.reference || d.has(kVolatile | kShared | kStatic | kAuto) ||
      (d.stmt != nullptr && stmt.body->span.contains(d.stmt->span)) || declares_types(facts) ||
      !ends_iteration(*write.node, stmt) || is_out_of_sight(facts, d) ||
      says_by_macros(unit, stmt.span))
    return std::nullopt;
  const std::string type = unit.resolved_type(unit.plain_text(d.type));
  const bool number = d.pointer_depth == 0 && is_integer_type(type) && size_of_type(type) >= 4;
  if (d.pointer_depth != 1 && !number) return std::nullopt;
  MovedByLoop out{&d, &loop, write.node, nullptr, {}};
  const Expr& change = *write.node;
  if (change.is(ExprKind::assign)) {
    if (change.op != "+=" && change.op != "-=") return std::nullopt;
    out.amount = &change.arg(1);
    if (!is_fixed_in(facts, *out.amount, stmt)) return std::nullopt;
  }
  // what the loop leaves in it is seen by nobody
  for (const Stmt* around = enclosing_loop(stmt); around != nullptr;
       around = enclosing_loop(*around)) {
    if (d.stmt == nullptr || around->body == nullptr || !around->body->span.contains(d.stmt->span))
      return std::nullopt;
  }
  for (const Expr* use : uses_of(facts, d)) {
    if (change.span.contains(use->span)) continue;
    if (use->span.begin >= stmt.span.end) return std::nullopt;
    const bool before = use->span.begin < stmt.span.begin ||
                        (stmt.init != nullptr && stmt.init->span.contains(use->span));
    if (may_change(unit, *use) && !(before && sets(*use))) return std::nullopt;
    if (before) continue;
    const bool sees_start = stmt.body->span.contains(use->span) &&
                            (use->span.begin < change.span.begin ||
                             (stmt.step != nullptr && stmt.step->span.contains(change.span)));
    if (!sees_start) return std::nullopt;
    out.uses.push_back(use);
  }
  return out.uses.empty() ? std::nullopt : std::optional(out);
}

std::vector<MovedByLoop> moved_by_loops(const KernelFacts& facts) {
  std::vector<MovedByLoop> out;
  for (const auto& loop : facts.loops) {
    const Stmt& s = *loop->stmt;
    const auto step = loop->step.constant(), first = loop->first.constant();
    if (!loop->counted || loop->descending || !loop->declared_inside || !s.is(StmtKind::for_) ||
        s.body == nullptr || !step || *step < 1 || !first)
      continue;
    for (const Write& write : facts.state->writes) {
      if (!s.span.contains(write.name->span) || write.variable == loop->declarator ||
          std::ranges::count(loop->inductions, write.variable->name) == 0)
        continue;
      if (auto one = moved_by(facts, *loop, write)) out.push_back(std::move(*one));
    }
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

/// `p += w` at the end of each iteration i of a loop: p_at = p + i * w at its start.
bool count_from_start(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<MovedByLoop> found = moved_by_loops(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const MovedByLoop& one = found.front();
  const Declarator &d = *one.variable, &index = *one.loop->declarator;
  const Stmt& loop = *one.loop->stmt;
  const Expr& change = *one.change;
  const std::int64_t first = *one.loop->first.constant(), step = *one.loop->step.constant();
  std::string passed(index.name);
  if (first != 0) passed += (first < 0 ? " + " : " - ") + std::to_string(std::abs(first));
  if (step != 1) passed = (first != 0 ? "(" + passed + ")" : passed) + " / " + std::to_string(step);
  const std::string type = unit.plain_text(d.type);
  const std::string wide = d.is_pointer() ? "long long" : unit.resolved_type(type);
  const bool same = unit.resolved_type(unit.plain_text(index.type)) == wide;
  if (one.amount != nullptr && !same)  // it moves by more in all than the index may hold
    passed = "static_cast<" + wide + ">(" + passed + ")";
  else if (passed != index.name)
    passed = "(" + passed + ")";
  if (one.amount != nullptr) {
    const Expr& by = *one.amount;
    const std::string text(unit.plain_text(by.outer));
    passed += " * " + (is_term(unit, by) || by.parenthesised ? text : "(" + text + ")");
  }
  const bool back = change.op == "-=" || change.op == "--";
  const std::string now = fresh_name(unit, std::string(d.name) + "_at");
  const std::string declared = (d.has(kConst) || !d.is_pointer() ? "const " : "") + type +
                               (d.is_pointer() ? "* " : " ") + now + " = " + std::string(d.name) +
                               (back ? " - " : " + ") + passed + ";";
  for (const Expr* use : one.uses) edits.push_back({use->span.begin, use->span.end, now});
  const std::string pad = "\n" + indentation(unit, loop.span.begin) + indent_unit(unit);
  if (loop.body->is(StmtKind::block)) {
    edits.push_back({loop.body->span.begin + 1, loop.body->span.begin + 1, pad + declared});
  } else {
    edits.push_back({loop.body->span.begin, loop.body->span.begin, "{" + pad + declared + pad});
    edits.push_back({loop.body->span.end, loop.body->span.end,
                     "\n" + indentation(unit, loop.span.begin) + "}"});
  }
  if (change.parent == nullptr) {
    const Span lines = whole_lines(unit, change.stmt->span);
    edits.push_back({lines.begin, lines.end, ""});
    return true;
  }
  const Expr &left = change.parent->arg(0), &right = change.parent->arg(1);
  const bool is_left = &left == &change;
  edits.push_back({is_left ? left.outer.begin : left.outer.end,
                   is_left ? right.outer.begin : right.outer.end, ""});
  return true;
}

}  // namespace

std::size_t second_names(const KernelFacts& facts) {
  return copies(facts).size() + moved_once(facts).size() + moved_by_loops(facts).size();
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
  if (found.empty()) return count_from_start(site, edits);
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
