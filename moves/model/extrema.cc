#include <algorithm>
#include <set>

#include "moves/model/facts_state.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath::model {
namespace {

class ExtremumFinder {
 public:
  ExtremumFinder(const KernelFacts& facts, const Loop& loop)
      : facts_(facts), unit_(*facts.unit), loop_(loop) {
    walk(*loop.stmt, [&](const Stmt& s) {
      for (const Declarator* d : s.declarators) inside_.insert(std::string(d->name));
      return true;
    });
  }

  /// `if (e > best) { best = e; at = j; }`, in any order of the assignments.
  [[nodiscard]] std::optional<Extremum> at(const Stmt& choice) const {
    if (!choice.is(StmtKind::if_) || choice.init != nullptr || choice.otherwise != nullptr ||
        choice.expr == nullptr || !choice.declarators.empty() ||
        enclosing_loop(choice) != loop_.stmt)
      return std::nullopt;
    Extremum out;
    out.stmt = &choice;
    std::vector<const Expr*> values;
    for (const Stmt* s : statements(*choice.body)) {
      const Expr* const e = s->is(StmtKind::expression) ? s->expr : nullptr;
      if (e == nullptr || !e->is_op(ExprKind::assign, "=") || !e->arg(0).is(ExprKind::name))
        return std::nullopt;
      const Declarator* const d = declaration_of(unit_, e->arg(0));
      if (d == nullptr || !is_plain(*d) ||
          std::ranges::find(out.variables, d) != out.variables.end())
        return std::nullopt;
      out.variables.push_back(d);
      values.push_back(&e->arg(1));
    }
    if (out.variables.size() < 2 || !find_value(choice, out, values)) return std::nullopt;
    for (const Declarator* d : out.variables) {
      if (!is_used_here_alone(*d, choice, d == out.variables[0])) return std::nullopt;
    }
    for (std::size_t k = 1; k < values.size() && out.order == 0; ++k) {
      if (const int way = runs_with_loop(*out.variables[k], *values[k]); way != 0)
        out.order = k, out.ascends = way > 0;
    }
    return out.order == 0 ? std::nullopt : std::optional(std::move(out));
  }

 private:
  [[nodiscard]] std::string type(const Declarator& d) const {
    return unit_.resolved_type(unit_.plain_text(d.type));
  }

  /// A variable of the kernel from outside the loop, of a type that shuffles exchange.
  [[nodiscard]] bool is_plain(const Declarator& d) const {
    return d.stmt != nullptr && !is_inside(*d.stmt, *loop_.stmt) && !d.is_pointer() &&
           !d.is_array() && !d.reference && !d.has(kVolatile) && !d.has(kShared) &&
           !d.has(kStatic) && dtype_of_type(type(d)).has_value() && size_of_type(type(d)) >= 4;
  }

  /// Puts the variable that keeps the compared value first.
  bool find_value(const Stmt& choice, Extremum& out, std::vector<const Expr*>& values) const {
    const Expr& c = *choice.expr;
    if (!c.is(ExprKind::binary) || (c.op != "<" && c.op != ">")) return false;
    for (const int kept : {0, 1}) {
      const Expr &best = c.arg(kept), &value = c.arg(1 - kept);
      if (!best.is(ExprKind::name)) continue;
      const auto found = std::ranges::find(out.variables, declaration_of(unit_, best));
      if (found == out.variables.end()) continue;
      const auto k = static_cast<std::size_t>(found - out.variables.begin());
      // What is compared is what is kept, without rounding on the way.
      if (!same_text(unit_, *values[k], value) || type_of(facts_, value) != type(**found)) continue;
      const bool changed = std::ranges::any_of(
          out.variables, [&](const Declarator* d) { return mentions(value, d->name); });
      if (changed) continue;
      out.greatest = (c.op == ">") == (kept == 1);
      std::swap(out.variables[0], out.variables[k]);
      std::swap(values[0], values[k]);
      return true;
    }
    return false;
  }

  /// The loop touches the variable in this choice only: it is assigned, and compared if it is the
  /// value. Nothing keeps its address.
  [[nodiscard]] bool is_used_here_alone(const Declarator& d, const Stmt& choice, bool value) const {
    int writes = 0, reads = 0;
    for (const Write& w : facts_.state->writes) {
      if (w.variable != &d) continue;
      if (w.partial || w.escapes) return false;
      if (loop_.stmt->span.contains(w.name->span)) ++writes;
    }
    for (const Read& r : facts_.state->reads) {
      if (r.variable != &d || !loop_.stmt->span.contains(r.name->span)) continue;
      if (!choice.expr->span.contains(r.name->span)) return false;
      ++reads;
    }
    return writes == 1 && reads == (value ? 1 : 0);
  }

  /// 1 if what is assigned grows from iteration to iteration, -1 if it falls, 0 if neither is
  /// known.
  [[nodiscard]] int runs_with_loop(const Declarator& d, const Expr& assigned) const {
    if (!is_integer_type(type(d)) || !is_integer_type(type_of(facts_, assigned))) return 0;
    const Polynomial value = facts_.resolved(facts_.polynomial(assigned));
    if (!value.is_known() || !value.affine_in(loop_.variable)) return 0;
    const auto slope = value.coefficient_of(loop_.variable).constant();
    const auto step = facts_.resolved(loop_.step).constant();
    const Polynomial rest = value.without(loop_.variable);
    if (!slope || *slope == 0 || !step || *step == 0 || !rest.operations().empty()) return 0;
    for (const std::string& name : rest.names()) {
      if (inside_.contains(name) || std::ranges::find(loop_.assigned, name) != loop_.assigned.end())
        return 0;
    }
    const bool is_unsigned =
        type(d).starts_with("unsigned") || type(d).starts_with("uint") || type(d) == "size_t";
    if (is_unsigned && !value.has_only_positive_terms()) return 0;
    return (*slope > 0) == (*step > 0) ? 1 : -1;
  }

  const KernelFacts& facts_;
  const Unit& unit_;
  const Loop& loop_;
  std::set<std::string, std::less<>> inside_;  ///< names of what the loop declares
};

}  // namespace

std::vector<Extremum> extrema_of(const KernelFacts& facts, const Loop& loop) {
  std::vector<Extremum> out;
  if (!loop.counted || loop.stmt->body == nullptr) return out;
  const ExtremumFinder finder(facts, loop);
  walk(*loop.stmt->body, [&](const Stmt& s) {
    if (auto extremum = finder.at(s)) out.push_back(std::move(*extremum));
    return true;
  });
  return out;
}

}  // namespace warpath::model
