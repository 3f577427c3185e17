#include <algorithm>
#include <numeric>
#include <utility>

#include "moves/blocks/block_runner.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

// Runs statements from within a kernel without the statements before them.

namespace warpath {

using model::Declarator;
using model::Expr;
using model::ExprKind;
using model::Stmt;
using model::StmtKind;

bool BlockRunner::begin() {
  follows_ = true;
  return read_launch();
}

bool BlockRunner::follow(const Stmt& s) {
  Threads all(static_cast<std::size_t>(threads_));
  std::iota(all.begin(), all.end(), 0);
  const Threads left = execute(s, std::move(all));
  if (why_.empty() && std::cmp_not_equal(left.size(), threads_)) stop("a thread that leaves");
  return why_.empty();
}

/// The variable with what it holds when the first statement begins; null for constants and for what
/// is not followed. The facts at `e` hold at the start: nothing that ran has set the variable, as
/// it would be known then.
BlockRunner::Variable* BlockRunner::entered(const Declarator* d, const Expr& e) {
  if (d == nullptr || d->function != model_.kernel || d->reference ||
      (d->has(model::kStatic) && !d->has(model::kShared)) || d->is_function_pointer ||
      d->has(model::kConstant))
    return nullptr;
  if (d->is_array()) {
    if (!d->has(model::kShared)) return nullptr;
    Variable v;
    if (!shape(*d, v)) return nullptr;
    memories_.back().unknown = true;
    v.in_step = d->has(model::kVolatile);
    return &variables_.emplace(d, std::move(v)).first->second;
  }
  Variable v;
  v.in_step = d->has(model::kVolatile);
  if (d->is_pointer()) {
    if (d->is_parameter || d->value() == nullptr || is_set_again(*d)) return nullptr;
    Threads all(static_cast<std::size_t>(threads_));
    std::iota(all.begin(), all.end(), 0);
    v.values = evaluated(*d->value(), all).values;
    if (!why_.empty()) return nullptr;
    v.before = v.values;
    return &variables_.emplace(d, std::move(v)).first->second;
  }
  if (d->has(model::kShared) || (model::constant_value(unit_, e, values_) && !is_set_again(*d)))
    return nullptr;
  v.type = type_of(*d);
  if (!v.type) return nullptr;
  v.source = static_cast<int>(variables_.size()) + (1 << 16);
  const Expr* const up = e.parent;
  const bool changed = up != nullptr && !up->args.empty() && &up->arg(0) == &e &&
                       (up->is(ExprKind::assign) || up->is(ExprKind::postfix) ||
                        up->is_op(ExprKind::unary, "++") || up->is_op(ExprKind::unary, "--"));
  const model::Polynomial held =
      changed ? model::Polynomial::unknown()
              : model_.facts.resolved(model_.facts.polynomial(e)).bound(values_);
  v.values.resize(static_cast<std::size_t>(threads_));
  for (int t = 0; t < threads_; ++t) {
    BlockValue& value = v.values[static_cast<std::size_t>(t)];
    const auto number =
        held.is_known() && !info(*v.type).is_float ? held.evaluate(index_of(t)) : std::nullopt;
    value = number ? BlockValue::integer(*number) : BlockValue::unknown(v.source, t, *v.type);
  }
  v.before = v.values;
  return &variables_.emplace(d, std::move(v)).first->second;
}

Bindings BlockRunner::index_of(int thread) const {
  return {{"threadIdx.x", thread % block_[0]},
          {"threadIdx.y", thread / block_[0] % block_[1]},
          {"threadIdx.z", thread / block_[0] / block_[1]}};
}

/// True if the kernel changes the variable after its declaration.
bool BlockRunner::is_set_again(const Declarator& d) const {
  bool found = false;
  model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
    const bool sets = e.is(ExprKind::assign) || e.is(ExprKind::postfix) ||
                      (e.is(ExprKind::unary) && (e.op == "++" || e.op == "--" || e.op == "&"));
    if (sets && e.arg(0).is(ExprKind::name) && model::declaration_of(unit_, e.arg(0)) == &d)
      found = true;
    return !found;
  });
  return found;
}

/// A comparison of values that are unknown.
bool BlockRunner::compares_data(const Expr& condition, const Threads& threads) {
  const bool order =
      condition.op == "<" || condition.op == "<=" || condition.op == ">" || condition.op == ">=";
  if (!condition.is(ExprKind::binary) || !order || !model::is_pure(unit_, condition)) return false;
  const auto several = [](const BlockValue& v) { return v.is(BlockValue::Kind::several); };
  const Lanes a = evaluated(condition.arg(0), threads);
  return why_.empty() && std::any_of(a.values.begin(), a.values.end(), several);
}

/// The smaller or the greater of two values, where a comparison chooses between what it compares.
BlockRunner::Lanes BlockRunner::chosen(const Expr& condition,
                                       const Lanes& yes,
                                       const Lanes& no,
                                       const Threads& threads) {
  const Lanes a = evaluated(condition.arg(0), threads), b = evaluated(condition.arg(1), threads);
  Lanes out(threads);
  for (std::size_t i = 0; i < threads.size() && why_.empty(); ++i) {
    const bool first = yes[i] == a[i] && no[i] == b[i], second = yes[i] == b[i] && no[i] == a[i];
    const bool least = first == condition.op.starts_with('<');
    const auto value = binary(least ? BlockOp::minimum : BlockOp::maximum, a[i], b[i], blocks_);
    if (!(first || second) || !value) return stop_at(condition), Lanes();
    out.values[i] = *value;
  }
  return out;
}

/// `if (x < y) x = y;` of unknown values, for all threads at once. False if it is another
/// statement.
bool BlockRunner::keeps_better(const Stmt& s, const Threads& threads) {
  const std::vector<const Stmt*> body = model::statements(*s.body);
  if (s.otherwise != nullptr || body.size() != 1 || !body[0]->is(StmtKind::expression) ||
      !body[0]->expr->is_op(ExprKind::assign, "=") || !compares_data(*s.expr, threads))
    return false;
  const Expr& target = body[0]->expr->arg(0);
  const Lanes now = evaluated(target, threads), other = evaluated(body[0]->expr->arg(1), threads);
  Lanes kept = chosen(*s.expr, other, now, threads);
  if (!why_.empty()) return true;
  if (Variable* const v = scalar(target)) {
    convert(kept, v->type);
    write(*v, kept, threads);
  } else {
    static_cast<void>(stored(places(target, threads), std::move(kept), threads));
  }
  return true;
}

/// The threads of a warp have completed all earlier statements.
void BlockRunner::advance_warps(const Threads& threads) {
  std::size_t last = now_.warps.size();
  for (const int t : threads) {
    const auto warp = static_cast<std::size_t>(t / kWarp);
    if (warp != last) ++now_.warps[warp];
    last = warp;
  }
}

}  // namespace warpath
