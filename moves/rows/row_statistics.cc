#include "moves/rows/row_statistics.h"

#include <algorithm>
#include <set>

#include "engine/text/source_edit.h"
#include "moves/model/kernel_model.h"
#include "moves/model/moved_pointers.h"
#include "moves/model/reduce_op.h"
#include "moves/rows/lanes.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Access;
using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::KernelFacts;
using model::KernelModel;
using model::Loop;
using model::Polynomial;
using model::ReduceOp;
using model::Reduction;
using model::Stmt;
using model::StmtKind;
using model::Unit;

/// What a name declared inside the loop stands for, casts taken off.
const Expr& resolved(const Unit& unit, const Expr& expr, const Loop& loop) {
  const Expr& e = model::strip_casts(expr);
  if (e.kind != ExprKind::name) return e;
  const Declarator* d = model::declaration_of(unit, e);
  const bool inside = d != nullptr && d->stmt != nullptr &&
                      model::is_inside(*d->stmt, *loop.stmt) && d->stmt != loop.stmt->init;
  return inside && d->value() != nullptr ? resolved(unit, *d->value(), loop) : e;
}

std::size_t start_of(const Stmt& s) {
  return s.pragma != nullptr ? s.pragma->span.begin : s.span.begin;
}

bool writes_memory(const KernelModel& model, const Stmt& stmt) {
  const auto accesses = model.facts.accesses_in(stmt);
  return std::any_of(accesses.begin(), accesses.end(), [](const Access* a) { return a->writes(); });
}

/// The statements of the list that holds both, from the one behind `a` to the one before `b`.
std::vector<const Stmt*> between(const Stmt& a, const Stmt& b) {
  std::vector<const Stmt*> out;
  for (const Stmt* s : a.parent->children) {
    if (s->span.begin > a.span.end && s->span.end < b.span.begin) out.push_back(s);
  }
  return out;
}

const Reduction* only_reduction(const Loop& loop, ReduceOp op) {
  if (loop.reductions.size() != 1 || loop.reductions[0].op != op) return nullptr;
  const Reduction& r = loop.reductions[0];
  return r.access < 0 && !r.negated && !r.prefix_used && r.declarator != nullptr &&
                 r.stmt != nullptr && r.stmt->is(StmtKind::expression)
             ? &r
             : nullptr;
}

bool starts_at_zero(const Reduction& r, const Unit& unit) {
  const Expr* value = r.declarator->value();
  return value != nullptr && model::strip_casts(*value).kind == ExprKind::number &&
         std::strtod(std::string(unit.text(model::strip_casts(*value))).c_str(), nullptr) == 0;
}

/// The edit that takes a statement away with its line.
Edit removal(const Unit& unit, const Stmt& stmt) {
  const model::Span whole = model::whole_lines(unit, {start_of(stmt), stmt.span.end});
  return {whole.begin, whole.end, ""};
}

/// Edits of one pair of sweeps and the names they may use.
class PairEditor {
 public:
  PairEditor(const MoveContext& context, const KernelModel& model)
      : context_(context), model_(model), unit_(model.unit) {}

  std::string fresh(std::string_view wish) {
    std::string out = model::fresh_name(unit_, wish, &taken_);
    taken_.insert(out);
    return out;
  }
  void replace(std::size_t begin, std::size_t end, const Stmt& at, const std::string& lines) {
    const std::string indent = model::indentation(unit_, start_of(at));
    edits.push_back({begin, end, hanging(lines, indent)});
  }
  void insert_before(const Stmt& stmt, const std::string& lines) {
    replace(start_of(stmt), start_of(stmt), stmt, lines + "\n");
    edits.back().text += model::indentation(unit_, start_of(stmt));
  }
  /// The accumulator must exist before `loop`: its declaration (of it alone) moves there if it
  /// stands behind.
  bool declare_before(const Reduction& r, const Loop& loop) {
    const Stmt* stmt = r.declarator->stmt;
    if (stmt == nullptr || !starts_at_zero(r, unit_)) return false;
    if (stmt->span.end <= loop.stmt->span.begin) return true;
    if (stmt->declarators.size() != 1 || stmt->parent != loop.stmt->parent) return false;
    edits.push_back(removal(unit_, *stmt));
    insert_before(*loop.stmt, std::string(unit_.text(*stmt)));
    return true;
  }
  Variant finished() {
    Variant out = context_.variant;
    out.source = edited(unit_.source(), std::move(edits));
    return out;
  }
  std::vector<Edit> edits;

 private:
  const MoveContext& context_;
  const KernelModel& model_;
  const Unit& unit_;
  std::set<std::string, std::less<>> taken_;
};

/// `sum / n`, n the row's length.
bool is_mean_of(const KernelModel& model,
                const Expr& expr,
                std::string_view sum,
                const Polynomial& length,
                const Expr** count) {
  const Expr& e = model::strip_casts(expr);
  if (!e.is_op(ExprKind::binary, "/") || !model::strip_casts(e.arg(0)).is_name(sum)) return false;
  *count = &e.arg(1);
  return model.facts.polynomial(model::strip_casts(e.arg(1))) == length;
}

/// Where the mean comes from: `mean /= n` or `T mean = sum / n` or `mean = sum / n`.
struct MeanSource {
  const Stmt* stmt = nullptr;
  const Expr* value = nullptr;  ///< sum / n; null for mean /= n
  const Expr* count = nullptr;
};

std::optional<MeanSource> find_mean(const KernelModel& model,
                                    const std::vector<const Stmt*>& list,
                                    std::string_view sum,
                                    std::string_view mean,
                                    const Polynomial& length) {
  std::optional<MeanSource> out;
  for (const Stmt* s : list) {
    MeanSource m{s, nullptr, nullptr};
    if (s->is(StmtKind::expression) && s->expr->kind == ExprKind::assign &&
        s->expr->arg(0).is_name(mean)) {
      if (s->expr->op == "/=" && mean == sum) {
        m.count = &s->expr->arg(1);
        if (model.facts.polynomial(model::strip_casts(*m.count)) == length) out = m;
      } else if (s->expr->op == "=" && is_mean_of(model, s->expr->arg(1), sum, length, &m.count)) {
        m.value = &s->expr->arg(1);
        out = m;
      }
    }
    if (!s->is(StmtKind::declaration)) continue;
    for (const Declarator* d : s->declarators) {
      if (d->name != mean || d->value() == nullptr ||
          !is_mean_of(model, *d->value(), sum, length, &m.count))
        continue;
      m.value = d->value();
      out = m;
    }
  }
  return out;
}

/// The sum is used for nothing but the mean and for combining the lanes' parts of it.
bool only_for_mean(const KernelModel& model,
                   const Loop& loop,
                   const Reduction& sum,
                   const MeanSource& mean) {
  bool ok = true;
  model::walk_expressions(*model.kernel->body, [&](const Expr& e) {
    if (!e.is_name(sum.accumulator) || e.stmt == nullptr || loop.stmt->span.contains(e.span) ||
        mean.stmt->span.contains(e.span))
      return true;
    if (e.span.begin < loop.stmt->span.begin) return true;
    // it is the mean by now
    if (mean.value == nullptr && e.span.begin > mean.stmt->span.end) return true;
    const Stmt& s = *e.stmt;
    bool shares = false;
    model::walk_expressions(s, [&](const Expr& x) {
      return shares = shares || model::callee(x).starts_with("__shfl"), true;
    });
    for (const Access* a : model.facts.accesses_in(s))
      shares |=
          model.facts.arrays[static_cast<std::size_t>(a->array)].space == model::Space::shared;
    ok = ok && shares;
    return true;
  });
  return ok;
}

/// D of V += D * D, or of fma(D, D, V).
const Expr* squared(const Unit& unit, const Reduction& r) {
  if (r.factor_a != nullptr && r.factor_b != nullptr)
    return model::same_text(unit, *r.factor_a, *r.factor_b) ? r.factor_a : nullptr;
  if (r.value == nullptr) return nullptr;
  const Expr& v = model::strip_casts(*r.value);
  return v.is_op(ExprKind::binary, "*") && model::same_text(unit, v.arg(0), v.arg(1)) ? &v.arg(0)
                                                                                      : nullptr;
}

std::string lane_only(const RowSweeps& sweeps) {
  return sweeps.lanes > 1 ? "if (" + sweeps.lane + " == 0) " : "";
}

/// What the statement of loop `a` reads from outside it stays as it is until the end of loop `b`;
/// `except`: an array that may change.
bool unchanged(const KernelModel& model,
               const Stmt& value,
               const Loop& a,
               const Loop& b,
               std::string_view except) {
  std::set<std::string> own{a.variable}, written;
  model::walk(*a.stmt->body, [&](const Stmt& s) {
    for (const Declarator* d : s.declarators) own.insert(std::string(d->name));
    return true;
  });
  for (const Stmt* s : a.stmt->parent->children) {
    if (s->span.begin < a.stmt->span.begin || s->span.end > b.stmt->span.end) continue;
    for (const std::string& name : model.facts.names_written(*s)) written.insert(name);
  }
  const std::vector<std::string> read = model.facts.names_read(value);
  return std::none_of(read.begin(), read.end(), [&](const std::string& n) {
    return n != except && !own.contains(n) && written.contains(n);
  });
}

}  // namespace

std::optional<Variant> fuse_statistics(const MoveContext& context,
                                       const KernelModel& model,
                                       const RowSweeps& sweeps,
                                       std::string& why) {
  const Unit& unit = model.unit;
  why = "no sweep sums squared distances from the mean of the one before";
  for (std::size_t s = 0; s + 1 < sweeps.loops.size(); ++s) {
    const Loop &a = *sweeps.loops[s], &b = *sweeps.loops[s + 1];
    const Reduction *sum = only_reduction(a, ReduceOp::add),
                    *var = only_reduction(b, ReduceOp::add);
    if (sum == nullptr || var == nullptr || sum->value == nullptr || sweeps.offsets[s] != 0 ||
        sweeps.offsets[s + 1] != 0)
      continue;
    if (writes_memory(model, *a.stmt) || writes_memory(model, *b.stmt)) continue;
    const Access* x = model.facts.access_of(resolved(unit, *sum->value, a));
    const Expr* d = squared(unit, *var);
    if (x == nullptr || d == nullptr) continue;
    const Expr& distance = resolved(unit, *d, b);
    if (!distance.is_op(ExprKind::binary, "-")) continue;
    const Access* again = model.facts.access_of(resolved(unit, distance.arg(0), b));
    const Expr& mean_name = model::strip_casts(distance.arg(1));
    if (again == nullptr || again->array != x->array || mean_name.kind != ExprKind::name) continue;
    const std::string xa = loop_atom(x->index, a), ya = loop_atom(again->index, b);
    if (!(x->index.substituted(xa, Polynomial::name("@")) ==
          again->index.substituted(ya, Polynomial::name("@"))))
      continue;
    const auto mean =
        find_mean(model, between(*a.stmt, *b.stmt), sum->accumulator, mean_name.name, a.end);
    if (!mean || !only_for_mean(model, a, *sum, *mean)) continue;
    if (!x->source_index.affine_in(loop_atom(x->source_index, a)) ||
        is_moved(model.facts, model.facts.arrays[static_cast<std::size_t>(x->array)]))
      continue;
    PairEditor editor(context, model);
    if (!editor.declare_before(*var, a)) continue;
    const std::string shift = editor.fresh("shift"), name(mean_name.name),
                      delta = editor.fresh("d");
    const std::string first = x->source_index.without(loop_atom(x->source_index, a)).text();
    editor.insert_before(*a.stmt, "const " + sum->type + " " + shift + " = " +
                                      model.facts.arrays[static_cast<std::size_t>(x->array)].name +
                                      "[" + first +
                                      "];  // sums are taken about it, which loses no digits");
    const bool alone = !sum->stmt->parent->is(StmtKind::block);
    const std::string open = alone ? "{\n" + model::indent_unit(unit) : "",
                      next = alone ? "\n" + model::indent_unit(unit) : "\n";
    const std::string lines = open + "const " + sum->type + " " + delta + " = " +
                              std::string(unit.text(sum->value->outer)) + " - " + shift + ";" +
                              next + sum->accumulator + " += " + delta + ";" + next +
                              var->accumulator + " += " + delta + " * " + delta + ";" +
                              (alone ? "\n}" : "");
    editor.replace(sum->stmt->span.begin, sum->stmt->span.end, *sum->stmt, lines);
    if (mean->value != nullptr) {
      editor.edits.push_back({mean->value->outer.begin, mean->value->outer.begin, shift + " + "});
    } else {
      editor.replace(mean->stmt->span.end, mean->stmt->span.end, *mean->stmt,
                     "\n" + name + " += " + shift + ";");
    }
    editor.replace(start_of(*b.stmt), b.stmt->span.end, *b.stmt,
                   lane_only(sweeps) + var->accumulator + " -= (" + name + " - " + shift + ") * (" +
                       name + " - " + shift + ") * " + std::string(unit.text(mean->count->outer)) +
                       ";  // now about the mean");
    return editor.finished();
  }
  return std::nullopt;
}

std::optional<Variant> fuse_maximum(const MoveContext& context,
                                    const KernelModel& model,
                                    const RowSweeps& sweeps,
                                    std::string& why) {
  const Unit& unit = model.unit;
  why = "no sweep sums exponentials below the maximum of the one before without storing them";
  for (std::size_t s = 0; s + 1 < sweeps.loops.size(); ++s) {
    const Loop &a = *sweeps.loops[s], &b = *sweeps.loops[s + 1];
    const Reduction *top = only_reduction(a, ReduceOp::maximum),
                    *sum = only_reduction(b, ReduceOp::add);
    if (top == nullptr || sum == nullptr || top->value == nullptr || sum->value == nullptr ||
        sweeps.offsets[s + 1] != 0)
      continue;
    if (writes_memory(model, *a.stmt) || writes_memory(model, *b.stmt) ||
        a.variable != b.variable || sweeps.offsets[s] > 1)
      continue;
    const Expr& power = resolved(unit, *sum->value, b);
    const std::string_view function = model::callee(power);
    if ((function != "expf" && function != "__expf" && function != "exp") || power.args.size() != 2)
      continue;
    const Expr& difference = resolved(unit, power.arg(1), b);
    if (!difference.is_op(ExprKind::binary, "-") ||
        !model::strip_casts(difference.arg(1)).is_name(top->accumulator))
      continue;
    if (!model::same_text(unit, resolved(unit, difference.arg(0), b),
                          resolved(unit, *top->value, a)))
      continue;
    PairEditor editor(context, model);
    if (!editor.declare_before(*sum, a)) continue;
    const std::string tab = model::indent_unit(unit), v = editor.fresh("v"),
                      own = editor.fresh("lane_max"), m = top->accumulator, f(function);
    std::string lines =
        std::string(unit.text(b.stmt->header)) + " {  // the sum follows the maximum so far\n";
    lines += tab + "const " + top->type + " " + v + " = " +
             std::string(unit.text(resolved(unit, *top->value, a).outer)) + ";\n";
    lines += tab + "if (" + v + " > " + m + ") {\n" + tab + tab + sum->accumulator + " = " +
             sum->accumulator + " * " + f + "(" + m + " - " + v + ") + 1;\n";
    lines += tab + tab + m + " = " + v + ";\n" + tab + "} else if (" + m + " > " +
             model::identity_text(ReduceOp::maximum, top->type) + ") {\n";
    lines +=
        tab + tab + sum->accumulator + " += " + f + "(" + v + " - " + m + ");\n" + tab + "}\n}\n";
    lines += "const " + top->type + " " + own + " = " + m + ";";
    editor.replace(start_of(*a.stmt), a.stmt->span.end, *a.stmt, lines);
    editor.replace(start_of(*b.stmt), b.stmt->span.end, *b.stmt,
                   sum->accumulator + " *= " + f + "(" + own + " - " + m + ");");
    return editor.finished();
  }
  return std::nullopt;
}

std::optional<Variant> recompute_stored(const MoveContext& context,
                                        const KernelModel& model,
                                        const RowSweeps& sweeps,
                                        std::string& why) {
  const Unit& unit = model.unit;
  why = "no sweep stores what a later one loads and overwrites";
  for (const RowOperand& o : sweeps.operands) {
    const auto last = o.last_write();
    const RowOperand::Use& first = o.uses.front();
    if (!last || *last == first.sweep || first.access->kind != model::AccessKind::write ||
        o.conditional_write)
      continue;
    const bool two = std::all_of(o.uses.begin() + 1, o.uses.end(), [&](const RowOperand::Use& u) {
      return u.sweep == *last && u.access->kind != model::AccessKind::read_write;
    });
    if (!two || model.facts.accesses_to(o.array).size() != o.uses.size()) continue;
    const Loop &a = *sweeps.loops[first.sweep], &b = *sweeps.loops[*last];
    const Stmt& store = *first.access->stmt;
    if (!store.is(StmtKind::expression) || !store.expr->is_op(ExprKind::assign, "=") ||
        &store.expr->arg(0) != first.access->expr)
      continue;
    if (store.parent == nullptr || store.parent != a.stmt->body || a.variable != b.variable)
      continue;
    if (sweeps.offsets[first.sweep] > sweeps.offsets[*last] ||
        !unchanged(model, store, a, b, model.facts.arrays[static_cast<std::size_t>(o.array)].name))
      continue;
    std::string needed;
    bool pure = model::is_pure(unit, store.expr->arg(1)), clash = false;
    for (const Stmt* s : model::statements(*a.stmt->body)) {
      if (s == &store) break;
      if (!s->is(StmtKind::declaration)) continue;
      for (const Declarator* d : s->declarators) {
        pure = pure && (d->value() == nullptr || model::is_pure(unit, *d->value())) &&
               unchanged(model, *s, a, b, "");
        clash = clash || model::mentions(*b.stmt, d->name);
      }
      needed += std::string(unit.text(*s)) + "\n";
    }
    if (!pure || clash) continue;
    PairEditor editor(context, model);
    editor.edits.push_back(removal(unit, store));
    const Expr& value = store.expr->arg(1);
    const std::string text = value.kind == ExprKind::name
                                 ? std::string(unit.text(value))
                                 : "(" + std::string(unit.text(value.outer)) + ")";
    for (const RowOperand::Use& u : o.uses) {
      if (u.access->kind == model::AccessKind::read)
        editor.edits.push_back({u.access->expr->span.begin, u.access->expr->span.end, text});
    }
    if (!needed.empty()) {
      const std::string indent = model::indentation(unit, b.stmt->span.begin),
                        deeper = indent + model::indent_unit(unit);
      const bool block = b.stmt->body->is(StmtKind::block);
      const std::size_t at = block ? b.stmt->body->span.begin + 1 : b.stmt->body->span.begin;
      const std::string lines = model::indented(needed, deeper);
      editor.edits.push_back(
          {at, at, block ? "\n" + lines.substr(0, lines.size() - 1) : "{\n" + lines + deeper});
      if (!block) editor.edits.push_back({b.stmt->span.end, b.stmt->span.end, "\n" + indent + "}"});
    }
    return editor.finished();
  }
  return std::nullopt;
}

namespace {

/// Beside the sweeps a loop runs over one of their rows from its end.
bool is_swept_backwards(const KernelFacts& facts, const RowSweeps& sweeps) {
  return std::any_of(facts.loops.begin(), facts.loops.end(), [&](const auto& loop) {
    if (!loop->counted || !loop->descending ||
        loop->stmt->parent != sweeps.loops.front()->stmt->parent)
      return false;
    const std::vector<const Access*> accesses = facts.accesses_in(*loop->stmt);
    return std::any_of(accesses.begin(), accesses.end(), [&](const Access* a) {
      const Polynomial base = a->index.without(loop_atom(a->index, *loop));
      return std::any_of(sweeps.operands.begin(), sweeps.operands.end(), [&](const RowOperand& o) {
        return o.array == a->array && o.folded_base == base;
      });
    });
  });
}

}  // namespace

std::optional<Variant> reverse_sweeps(const MoveContext& context,
                                      const KernelModel& model,
                                      const RowSweeps& sweeps,
                                      std::string& why) {
  if (sweeps.loops.size() < 2) return why = "the row is swept once", std::nullopt;
  const bool comes_back =
      std::any_of(sweeps.operands.begin(), sweeps.operands.end(),
                  [](const RowOperand& o) { return o.uses.back().sweep > o.uses.front().sweep; });
  if (!comes_back) return why = "no two sweeps read the same memory", std::nullopt;
  if (is_swept_backwards(model.facts, sweeps))
    return why = "a sweep of the row runs backwards already", std::nullopt;
  std::vector<Edit> edits;
  for (std::size_t s = 1; s < sweeps.loops.size(); s += 2) {
    const Loop& loop = *sweeps.loops[s];
    const std::string type = loop.declarator == nullptr
                                 ? ""
                                 : std::string(model.unit.text(loop.declarator->type)),
                      j = loop.variable;
    if (type != "int" && type != "long" && type != "long long")
      return why = j + " is of type " + type + ", which may not become negative", std::nullopt;
    const std::string end =
        std::string(model.unit.text(loop.bound_expr->outer)) + (loop.inclusive ? " + 1" : "");
    const std::string l = std::to_string(sweeps.lanes),
                      first(model.unit.text(loop.first_expr->outer));
    std::string header = "for (" + type + " " + j + " = ";
    if (sweeps.lanes == 1) {
      header += end + " - 1; " + j + " >= " + first + "; --" + j + ")";
    } else {
      header += first + " + (" + end + " - (" + first + ") + " + std::to_string(sweeps.lanes - 1) +
                ") / " + l + " * " + l + " - " + l + "; " + j + " >= " + first + "; " + j +
                " -= " + l + ")";
    }
    edits.push_back({loop.stmt->header.begin, loop.stmt->header.end, header});
  }
  Variant out = context.variant;
  out.source = edited(model.unit.source(), std::move(edits));
  return out;
}

}  // namespace warpath
