#include "moves/edit/edge_free_loop.h"

#include <algorithm>
#include <set>
#include <vector>

#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::size_t kMostText = 1 << 14;

/// `if (c) { ... }` or `if (c) continue;` in a loop, as what must hold.
struct Test {
  const Guard* guard = nullptr;
  const Stmt* stmt = nullptr;
};

std::vector<Test> tests_in(const KernelFacts& facts, const Loop& loop) {
  std::vector<Test> out;
  for (const auto& guard : facts.guards) {
    const Stmt* s = guard->stmt;
    if (s == nullptr || !s->is(StmtKind::if_) || !is_inside(*s, *loop.stmt->body) ||
        guard->condition != s->expr || s->otherwise != nullptr || s->init != nullptr ||
        s->body == nullptr || !guard->complete || guard->nonnegative.empty())
      continue;
    const std::vector<const Stmt*> inner = statements(*s->body);
    const bool skips = guard->early_exit && guard->exits_loop && inner.size() == 1 &&
                       inner[0]->is(StmtKind::continue_);
    const bool jumps = jumps_out(*s->body);  // what holds in its body is no test of what follows
    if (skips || (!jumps && !guard->early_exit && !guard->negated)) out.push_back({guard.get(), s});
  }
  return out;
}

/// `if (i >= n) i = n - 1;` in a loop, as threads beyond the end repeat the last point: where it
/// does nothing, i is what it was.
struct Clamp {
  const Stmt* stmt = nullptr;
  Polynomial value, last;  ///< i, n - 1
};

std::optional<Clamp> clamp_of(const KernelFacts& facts, const Test& test) {
  const Expr& c = *test.guard->condition;
  const std::vector<const Stmt*> inner = statements(*test.stmt->body);
  const Expr* const e =
      inner.size() == 1 && inner[0]->is(StmtKind::expression) ? inner[0]->expr : nullptr;
  if (e == nullptr || !e->is_op(ExprKind::assign, "=") || !e->arg(0).is(ExprKind::name) ||
      !c.is_op(ExprKind::binary, ">=") || !c.arg(0).is_name(e->arg(0).name) ||
      test.guard->nonnegative.size() != 1)
    return std::nullopt;
  Clamp out{test.stmt, facts.resolved(facts.polynomial(c.arg(0))),
            facts.resolved(facts.polynomial(e->arg(1)))};
  const Polynomial beyond = facts.resolved(test.guard->nonnegative[0]);
  if (!out.last.constant() || !(beyond == out.value - out.last - Polynomial(1)))
    return std::nullopt;
  return out;
}

/// Changes what its condition compares, so that it is no test of what follows.
bool changes_its_condition(const KernelFacts& facts, const Test& test) {
  return std::ranges::any_of(facts.names_written(*test.stmt->body), [&](const std::string& name) {
    return mentions(*test.stmt->expr, name);
  });
}

/// `p` where no clamp does anything.
Polynomial unclamped(const KernelFacts& facts, Polynomial p, const std::vector<Clamp>& clamps) {
  p = facts.resolved(p);
  for (const Clamp& clamp : clamps) {
    const std::set<std::string> atoms = p.atoms();
    for (const std::string& text : atoms) {
      const Atom* const least = p.operation_atom(text);
      if (least == nullptr || least->op != "min" || least->operands.size() != 2) continue;
      const Polynomial &a = least->operands[0], &b = least->operands[1];
      const bool same =
          (a == clamp.value && b == clamp.last) || (b == clamp.value && a == clamp.last);
      if (!same || !p.affine_in(text)) continue;
      p = facts.resolved(p.coefficient_of(text) * clamp.value + p.without(text));
      break;
    }
  }
  return p;
}

/// The least value of `p` over the loops around `stmt` down from `loop`; unknown if that cannot be
/// said.
Polynomial least(const KernelFacts& facts, const Loop& loop, const Stmt& stmt, Polynomial p) {
  p = facts.resolved(p);
  for (auto at = facts.loops.rbegin(); at != facts.loops.rend(); ++at) {
    const Loop& one = **at;
    if (!is_inside(*one.stmt, *loop.stmt) || !is_inside(stmt, *one.stmt)) continue;
    if (!one.counted || !p.affine_in(one.variable)) return Polynomial::unknown();
    const auto by = facts.resolved(p.coefficient_of(one.variable)).constant();
    if (!by) return Polynomial::unknown();
    const Polynomial low = one.descending ? one.end + Polynomial(1) : one.first,
                     high = one.descending ? one.first : one.end - Polynomial(1);
    p = facts.resolved(p.substituted(one.variable, *by > 0 ? low : high));
  }
  return p;
}

/// C text of p >= 0 in front of the loop; empty if it has other than signed numbers known there.
std::string test_text(const KernelModel& kernel, const Loop& loop, const Polynomial& p) {
  if (!p.is_known() || p.key().find('\'') != std::string::npos) return {};
  for (const Atom* operation : p.operations()) {
    if (operation->op != "/" && operation->op != "%") return {};
  }
  std::string text = p.text();
  for (const std::string& name : p.names()) {
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos) {
      const std::string builtin = name.substr(0, dot);
      if (builtin != "threadIdx" && builtin != "blockIdx" && builtin != "blockDim") return {};
      continue;
    }
    const Declarator* d = visible(kernel.unit, *kernel.kernel, name, loop.stmt->span.begin);
    const std::string type =
        d == nullptr ? "" : kernel.unit.resolved_type(kernel.unit.plain_text(d->type));
    if (d == nullptr || d->is_array() || d->is_pointer() ||
        (type != "int" && type != "short" && type != "long" && type != "long long"))
      return {};
  }
  for (const std::string_view builtin : {"threadIdx.", "blockIdx.", "blockDim."}) {
    for (std::size_t at = text.find(builtin); at != std::string::npos;
         at = text.find(builtin, at + builtin.size() + 5)) {
      text.insert(at, "(int)");  // unsigned: no difference would be below 0
    }
  }
  return text + " >= 0";
}

}  // namespace

std::optional<Variant> tested_before_loop(const MoveContext& context,
                                          const KernelModel& kernel,
                                          const Loop& loop,
                                          std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const Unit& unit = kernel.unit;
  const auto none = [&](std::string text) { return why = std::move(text), std::nullopt; };
  if (!facts.veto.empty()) return none(facts.veto);
  const Stmt& stmt = *loop.stmt;
  if (!stmt.is(StmtKind::for_) || stmt.body == nullptr || !loop.declared_inside)
    return none("the loop does not count in its header");
  if (loop.has_barrier || joins_threads(stmt) || jumps_out(stmt))
    return none("the loop joins threads or leaves early");
  std::set<std::string> conditions;
  std::vector<Edit> edits;
  std::vector<Clamp> clamps;
  std::vector<Test> tests;
  for (const Test& test : tests_in(facts, loop)) {
    if (auto clamp = clamp_of(facts, test)) {
      const Polynomial room = clamp->last - clamp->value;
      const std::string text = test_text(kernel, loop, least(facts, loop, *test.stmt, room));
      const bool alone = !test.stmt->parent->is(StmtKind::block);
      if (text.empty() || alone || enclosing_loop(*test.stmt) == loop.stmt) continue;
      const Span lines = whole_lines(unit, test.stmt->span);
      edits.push_back({lines.begin, lines.end, ""});
      conditions.insert(text);
      clamps.push_back(std::move(*clamp));
    } else if (!changes_its_condition(facts, test)) {
      tests.push_back(test);
    }
  }
  const std::size_t clamped = edits.size();
  for (const Test& test : tests) {
    std::set<std::string> own;
    bool said = true;
    for (const Polynomial& p : test.guard->nonnegative) {
      const Polynomial low = least(facts, loop, *test.stmt, unclamped(facts, p, clamps));
      if (const auto number = low.constant(); number && *number >= 0) continue;
      const std::string text = test_text(kernel, loop, low);
      said = said && !text.empty() && !low.constant();
      own.insert(text);
    }
    if (!said) continue;
    conditions.merge(own);
    const bool skips = test.guard->early_exit;
    edits.push_back({test.stmt->span.begin,
                     skips ? test.stmt->span.end : test.stmt->body->span.begin, skips ? ";" : ""});
  }
  if (edits.empty()) return none("no test in the loop can be made before it");
  if (edits.size() == clamped && !tests.empty())
    return none("no test in the loop can be made before it");
  if (conditions.empty()) return none("the tests in the loop always hold");
  const std::size_t begin = (stmt.pragma != nullptr ? stmt.pragma : &stmt)->span.begin;
  const Span whole{begin, stmt.span.end};
  if (whole.end - whole.begin > kMostText) return none("the loop is too long to stand there twice");
  std::string condition;
  for (const std::string& one : conditions) condition += (condition.empty() ? "" : " && ") + one;
  const std::string indent = indentation(unit, stmt.span.begin), step = indent_unit(unit);
  const auto copy = [&](const std::vector<Edit>& changes) {
    return indented(unindented(indent + substituted(unit, whole, changes)), indent + step);
  };
  Rewrite rewrite(kernel);
  rewrite.replace(whole, "if (" + condition + ") {\n" + indent + step +
                             "// far from the edges: nothing to test\n" + copy(edits) + indent +
                             "} else {\n" + copy({}) + indent + "}");
  return rewrite.finish(context.variant);
}

}  // namespace warpath
