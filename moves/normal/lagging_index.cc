#include "moves/normal/lagging_index.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/text/local_names.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts_state.h"
#include "moves/normal/macro_words.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

struct Lag {
  const Loop* loop = nullptr;
  const Declarator* variable = nullptr;
  const Expr* step = nullptr;  ///< j++
  std::int64_t first = 0;      ///< of j
};

/// `k = j++`, or `k = j, j++`: k, and the step of j.
const Expr* lagging(const Expr& step, const Expr*& counting) {
  if (step.is_op(ExprKind::assign, "=") && step.arg(0).is(ExprKind::name) &&
      step.arg(1).is_op(ExprKind::postfix, "++") && step.arg(1).arg(0).is(ExprKind::name))
    return counting = &step.arg(1), &step.arg(0);
  if (!step.is(ExprKind::comma) || step.parenthesised) return nullptr;
  const Expr &before = step.arg(0), &last = step.arg(1);
  const bool counts = (last.is(ExprKind::unary) || last.is(ExprKind::postfix)) && last.op == "++" &&
                      last.arg(0).is(ExprKind::name);
  const bool keeps = counts && before.is_op(ExprKind::assign, "=") &&
                     before.arg(0).is(ExprKind::name) && before.arg(1).is_name(last.arg(0).name);
  return keeps ? (counting = &last, &before.arg(0)) : nullptr;
}

/// A number of the kernel's own whose name nothing but names of it says.
bool is_plain(const Unit& unit, const Declarator& d) {
  return d.stmt != nullptr && d.stmt->is(StmtKind::declaration) && !d.stmt->text_only &&
         !d.is_pointer() && !d.is_array() && !d.reference && !d.is_function_pointer &&
         (d.qualifiers & ~static_cast<std::uint32_t>(kUnsigned)) == 0 &&
         is_integer_type(unit.plain_text(d.type)) && !is_said_by_macro(unit, d.name);
}

std::optional<Lag> lag_of(const KernelFacts& facts, const Loop& loop) {
  const Unit& unit = *facts.unit;
  const Stmt& stmt = *loop.stmt;
  Lag out{.loop = &loop};
  const Expr* const name =
      stmt.is(StmtKind::for_) && stmt.step != nullptr ? lagging(*stmt.step, out.step) : nullptr;
  const Declarator* const index = loop.declarator;
  const auto first = facts.resolved(loop.first).constant();
  if (name == nullptr || !loop.counted || loop.descending || loop.step != Polynomial(1) || !first ||
      index == nullptr || !out.step->arg(0).is_name(index->name) || stmt.expr == nullptr ||
      stmt.body == nullptr || stmt.parent == nullptr || !stmt.parent->is(StmtKind::block))
    return std::nullopt;
  const Declarator* const k = declaration_of(unit, *name);
  out.variable = k, out.first = *first;
  // an index that wrapped around would be at its first value again
  const bool ends =
      stmt.expr->is(ExprKind::binary) && (stmt.expr->op == "<" || stmt.expr->op == "!=");
  if (k == nullptr || k == index || !ends || k->function != facts.kernel || !is_plain(unit, *k) ||
      unit.plain_text(k->specifiers) != unit.plain_text(index->specifiers) ||
      is_inside(*k->stmt, stmt) || enclosing_loop(*k->stmt) != enclosing_loop(stmt) ||
      is_said_by_macro(unit, index->name))
    return std::nullopt;
  for (const Write& w : facts.state->writes) {
    if (w.variable != k) continue;
    const bool steps = w.node == stmt.step || w.node == &stmt.step->arg(0);
    if (w.escapes || w.partial || w.node == nullptr ||
        (!steps && w.node->span.begin >= stmt.span.begin))
      return std::nullopt;
  }
  bool good = true;
  walk(*facts.kernel->body, [&](const Stmt& s) {
    good = good && !s.is(StmtKind::opaque) && !s.is(StmtKind::label) && !s.is(StmtKind::goto_) &&
           !s.is(StmtKind::directive) && (!s.text_only || !mentions(s, k->name));
    for (const Declarator* d : s.declarators) {
      good = good && (d == k || d->name != k->name) &&
             !(d->reference && d->value() != nullptr && mentions(*d->value(), k->name));
    }
    return good;
  });
  walk_expressions(*facts.kernel->body, [&](const Expr& e) {
    if (e.is(ExprKind::lambda) || e.is(ExprKind::opaque) || e.is(ExprKind::statement)) good = false;
    if (!e.is_name(k->name)) return good;
    // behind the loop, or where the text is another's
    const bool in_head = is_inside(e, stmt) && !is_inside(e, *stmt.body) && &e != name;
    if (e.span.begin >= stmt.span.end || in_head || declaration_of(unit, e) != k) good = false;
    return good;
  });
  return good ? std::optional(out) : std::nullopt;
}

std::vector<Lag> lags(const KernelFacts& facts) {
  std::vector<Lag> out;
  for (const auto& loop : facts.loops) {
    if (const auto lag = lag_of(facts, *loop)) out.push_back(*lag);
  }
  return out;
}

}  // namespace

std::size_t lagging_indices(const KernelFacts& facts) {
  return lags(facts).size();
}

bool lag_in_body(const NormalSite& site, std::vector<Edit>& edits) {
  const std::vector<Lag> found = lags(site.facts);
  if (found.empty()) return false;
  const Unit& unit = site.unit;
  const auto& [loop, k, counting, start] = found.front();
  const Stmt &stmt = *loop->stmt, &body = *stmt.body;
  const std::string name(k->name), first = fresh_name(unit, name + "_first"),
                                   j(loop->declarator->name);
  edits.push_back({k->name_span.begin, k->name_span.end, first});
  walk_expressions(*site.kernel.body, [&](const Expr& e) {
    if (e.is_name(name) && !is_inside(e, stmt)) edits.push_back({e.span.begin, e.span.end, first});
    return true;
  });
  edits.push_back({stmt.step->outer.begin, stmt.step->outer.end, unit.plain_text(counting->span)});
  const std::string declared = "const " + unit.plain_text(k->specifiers) + " " + name + " = " + j +
                               " == " + std::to_string(start) + " ? " + first + " : " + j + " - 1;";
  const std::string pad = "\n" + indentation(unit, stmt.span.begin) + indent_unit(unit);
  if (body.is(StmtKind::block)) {
    edits.push_back({body.span.begin + 1, body.span.begin + 1, pad + declared});
  } else {
    edits.push_back({body.span.begin, body.span.begin, "{" + pad + declared + pad});
    edits.push_back(
        {body.span.end, body.span.end, "\n" + indentation(unit, stmt.span.begin) + "}"});
  }
  return true;
}

}  // namespace warpath
