#include <algorithm>

#include "moves/model/kernel_walker.h"
#include "moves/syntax/assembly.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

constexpr std::size_t kMostGuards = 200;

/// Evaluated once whenever its statement is.
bool is_unconditional(const Expr& e) {
  for (const Expr* p = e.parent; p != nullptr; p = p->parent) {
    const bool logical = p->kind == ExprKind::binary &&
                         (p->op == "&&" || p->op == "||" || p->op == "and" || p->op == "or");
    if (logical || p->kind == ExprKind::conditional || p->kind == ExprKind::lambda ||
        p->kind == ExprKind::statement)
      return false;
  }
  return true;
}

}  // namespace

void KernelWalker::run() {
  for (const Declarator* p : facts_.kernel->parameters) {
    if (p->is_pointer() || p->is_array()) array_of(facts_, *p);
    if (!p->name.empty()) variables_.claim(*p);
  }
  statement(*facts_.kernel->body);
}

void KernelWalker::assembly(const Stmt& s) {
  const AssemblyEffect effect = effect_of_assembly(unit_, s);
  facts_.has_assembly = facts_.has_assembly || effect != AssemblyEffect::none;
  facts_.has_warp_ops = facts_.has_warp_ops || effect == AssemblyEffect::joins;
  if (effect == AssemblyEffect::unknown) state_.unknown_effects.push_back({"", s.span, true});
  for (std::size_t i = 0; i < s.operands.size(); ++i) {
    visit(*s.operands[i], i < s.outputs ? Mode::read_write : Mode::read);
    // of an element the instructions get the value
    if (effect == AssemblyEffect::unknown || !s.operands[i]->is(ExprKind::subscript))
      escape(*s.operands[i]);
    if (i < s.outputs) changed(*s.operands[i]);
  }
}

void KernelWalker::statement(const Stmt& s) {
  state_.guards[&s] = guards_;
  switch (s.kind) {
    case StmtKind::block:
      block(s);
      break;
    case StmtKind::declaration:
      declaration(s);
      break;
    case StmtKind::if_:
      branch(s);
      break;
    case StmtKind::for_:
    case StmtKind::while_:
    case StmtKind::do_:
    case StmtKind::range_for:
      loop(s);
      break;
    case StmtKind::switch_:
      switched(s);
      break;
    case StmtKind::assembly:
      assembly(s);
      break;
    case StmtKind::macro:  // may repeat or skip its body
      unknown_call(unit_.plain_text(s.header), s.span);
      if (s.expr != nullptr) visit(*s.expr, Mode::read);
      forget_written(s.span);
      if (s.body != nullptr) statement(*s.body);
      forget_written(s.span);
      break;
    case StmtKind::try_:
      if (s.body != nullptr) statement(*s.body);
      break;
    case StmtKind::goto_:
      unknown_call("goto", s.span);
      break;
    default:
      if (s.expr == nullptr) break;
      visit(*s.expr, Mode::read);
      if (s.is(StmtKind::expression) && s.expr->kind == ExprKind::name &&
          !state_.declared.contains(s.expr))
        lone_word(*s.expr);
      break;
  }
}

/// A macro that stands alone: harmless if it is empty or a pragma.
void KernelWalker::lone_word(const Expr& e) {
  const Macro* const macro = unit_.macro(e.name);
  const bool harmless =
      macro != nullptr && (macro->body.empty() || macro->body.starts_with("_Pragma"));
  if (!harmless) unknown_call(std::string(e.name), e.span);
}

void KernelWalker::block(const Stmt& s) {
  const std::size_t mark = guards_.size();
  for (const Stmt* child : s.children) {
    statement(*child);
    if (guards_.size() >= kMostGuards) continue;  // fewer guards are still true
    if (child->kind != StmtKind::if_ || child->otherwise != nullptr || child->expr == nullptr ||
        !leaves(*child->body))
      continue;
    Guard& guard = add_guard(*child->expr, true, *child);
    guard.early_exit = true;
    guard.exits_loop = child->body != nullptr && !returns(*child->body);
  }
  guards_.resize(mark);
}

bool KernelWalker::returns(const Stmt& s) {
  if (s.kind == StmtKind::return_) return true;
  return s.kind == StmtKind::block && !s.children.empty() && returns(*s.children.back());
}

Guard& KernelWalker::add_guard(const Expr& condition, bool negated, const Stmt& stmt) {
  auto guard = std::make_unique<Guard>();
  guard->condition = &condition;
  guard->negated = negated;
  guard->stmt = &stmt;
  guard->complete = reader_.comparisons(condition, negated, guard->nonnegative);
  guards_.push_back(guard.get());
  facts_.guards.push_back(std::move(guard));
  return *facts_.guards.back();
}

void KernelWalker::declaration(const Stmt& s) {
  for (const Declarator* d : s.declarators) {
    for (const Expr* e : d->extents) {
      if (e != nullptr) visit(*e, Mode::read);
    }
    for (const Expr* e : d->init) visit(*e, Mode::read);
    const bool object = !d->is_pointer() && !d->reference && !d->has(kAuto) &&
                        (d->init_form == InitForm::parens || d->init_form == InitForm::braces);
    for (const Expr* e : d->init) {
      if (object) escape(*e);  // a pointer goes into an object
    }
    if (d->is_array()) {
      array_of(facts_, *d);
      continue;
    }
    const bool one = d->value() != nullptr && d->value()->kind != ExprKind::init_list;
    Value value =
        one ? (d->reference ? reader_.place(*d->value()) : reader_.read(*d->value())) : Value{};
    if (d->reference && !value.is_pointer()) value = one ? reader_.read(*d->value()) : Value{};
    variables_.assign(*d, value);
  }
}

void KernelWalker::branch(const Stmt& s) {
  if (s.init != nullptr) statement(*s.init);
  if (s.expr != nullptr) visit(*s.expr, Mode::read);
  const VariableValues::Environment before = variables_.now();
  const std::size_t mark = guards_.size();
  if (s.expr != nullptr) add_guard(*s.expr, false, s);
  if (s.body != nullptr) statement(*s.body);
  guards_.resize(mark);
  const VariableValues::Environment after_then = variables_.now();
  const bool then_leaves = s.body != nullptr && leaves(*s.body);
  variables_.restore(before);
  if (s.otherwise != nullptr) {
    if (s.expr != nullptr) add_guard(*s.expr, true, s);
    statement(*s.otherwise);
    guards_.resize(mark);
  }
  const bool else_leaves = s.otherwise != nullptr && leaves(*s.otherwise);
  if (else_leaves) {
    variables_.restore(after_then);
  } else if (!then_leaves) {
    const VariableValues::Environment limited = limits(s, after_then);
    variables_.join(after_then);
    for (const auto& [d, value] : limited) variables_.set(*d, value);
  }
}

/// Variables that `if (v >= n) v = n - 1;` limits.
VariableValues::Environment KernelWalker::limits(const Stmt& s,
                                                 const VariableValues::Environment& after_then) {
  VariableValues::Environment out;
  if (s.otherwise != nullptr || s.expr == nullptr || s.init != nullptr) return out;
  for (const auto& [d, no] : variables_.now()) {
    const auto yes = after_then.find(d);
    if (yes == after_then.end() || yes->second.is_pointer() || no.is_pointer() ||
        yes->second.full == no.full)
      continue;
    const std::string_view chosen = reader_.extremum(*s.expr, yes->second.full, no.full);
    if (!chosen.empty()) out[d] = reader_.combine(chosen, {yes->second, no});
  }
  return out;
}

void KernelWalker::switched(const Stmt& s) {
  if (s.init != nullptr) statement(*s.init);
  if (s.expr != nullptr) visit(*s.expr, Mode::read);
  forget_written(s.span);
  if (s.body != nullptr) {
    const std::size_t mark = guards_.size();
    if (s.expr != nullptr) {  // reached for some values of it
      Guard& guard = add_guard(*s.expr, false, s);
      guard.complete = false;
      guard.nonnegative.clear();
    }
    statement(*s.body);
    guards_.resize(mark);
  }
  forget_written(s.span);
}

void KernelWalker::forget_written(Span span) {
  for (const Write* write : writes_in(facts_, span)) variables_.forget(*write->variable);
}

void KernelWalker::loop(const Stmt& s) {
  const std::size_t guards = guards_.size();
  if (s.init != nullptr) statement(*s.init);
  auto owned = std::make_unique<Loop>();
  Loop& l = *owned;
  facts_.loops.push_back(std::move(owned));
  state_.loops[&s] = &l;
  l.stmt = &s;
  l.parent = loops_.empty() ? nullptr : loops_.back();
  l.depth = static_cast<int>(loops_.size());
  if (!loops_.empty()) loops_.back()->children.push_back(&l);

  const Span inside{s.init != nullptr ? s.init->span.end : s.span.begin, s.span.end};
  const std::vector<const Write*> writes = writes_in(facts_, inside);
  LoopHeader header = read_header(facts_, s, writes);
  if (header.variable != nullptr && !variables_.may_count(*header.variable))
    header.variable = nullptr;
  if (header.variable != nullptr) {
    for (const Expr* e : {header.bound, header.step}) {
      if (e != nullptr) visit_quietly(*e);
    }
    fill_range(l, header);
  }
  const std::string own = l.counted ? l.variable : std::string();
  for (const Write* write : writes) {
    const Declarator& d = *write->variable;
    if (&d == header.variable && l.counted) continue;
    if (is_inside_declaration(d, s)) continue;
    if (!l.counted || !fold_induction(l, header, d, writes)) variables_.forget(d);
  }
  if (l.counted) {
    Value index;
    index.full = index.source = Polynomial::name(l.variable);
    variables_.set(*header.variable, index);
    variables_.begin_loop(own);
  }
  const VariableValues::Environment at_top = variables_.now();
  loops_.push_back(&l);
  if (s.kind != StmtKind::do_ && s.expr != nullptr) visit(*s.expr, Mode::read);
  if (s.body != nullptr) statement(*s.body);
  if (s.kind == StmtKind::do_ && s.expr != nullptr) visit(*s.expr, Mode::read);
  if (s.step != nullptr) visit(*s.step, Mode::read);
  loops_.pop_back();
  if (l.counted) variables_.end_loop(own);
  variables_.restore(at_top);
  for (const Write* write : writes) {
    if (!is_inside_declaration(*write->variable, s)) variables_.forget(*write->variable);
  }
  guards_.resize(guards);
}

/// Declared in the loop's body: another variable each time.
bool KernelWalker::is_inside_declaration(const Declarator& d, const Stmt& loop) {
  return d.stmt != nullptr && loop.body != nullptr && is_inside(*d.stmt, *loop.body);
}

void KernelWalker::fill_range(Loop& l, const LoopHeader& h) {
  const Value first = variables_.value_of(*h.variable);
  const Value bound = reader_.read(*h.bound);
  Value step;
  if (h.step == nullptr) {
    step.full = step.source = 1;
  } else {
    step = reader_.read(*h.step);
  }
  if (h.step_negative) step.full = -step.full;
  if (first.is_pointer() || bound.is_pointer() || !first.full.is_known() ||
      !bound.full.is_known() || !step.full.is_known())
    return;
  const auto constant_step = facts_.resolved(step.full).constant();
  l.descending = h.descending;
  if (constant_step && (*constant_step == 0 || (*constant_step < 0) != h.descending)) return;
  if (!constant_step && (h.descending || h.unequal)) return;
  if (h.unequal && constant_step && *constant_step != 1 && *constant_step != -1) return;
  l.counted = true;
  l.variable = std::string(h.variable->name);
  l.declarator = h.variable;
  l.declared_inside = h.variable->stmt != nullptr && l.stmt->init == h.variable->stmt;
  l.first_expr = h.first;
  l.bound_expr = h.bound;
  l.inclusive = h.inclusive;
  l.step = step.full;
  l.first = first.full;
  l.source_first = first.source;
  const Polynomial shift(h.inclusive ? (h.descending ? -1 : 1) : 0);
  l.end = bound.full + shift;
  l.source_end = bound.source + shift;
  const Polynomial distance = h.descending ? l.first - l.end : l.end - l.first;
  if (constant_step) {
    const std::int64_t width = *constant_step < 0 ? -*constant_step : *constant_step;
    if (width == 1) {
      l.trips = distance;
    } else if (const auto exact = facts_.resolved(distance).divided_by(width)) {
      l.trips = *exact;
    }
    if (const auto count = facts_.resolved(distance).constant()) {
      l.trip_count = *count <= 0 ? 0 : (*count + width - 1) / width;
      l.trips = Polynomial(*l.trip_count);
    }
  }
  find_thread_axis(l);
}

/// j = threadIdx.x (or an offset of the block plus it), j += blockDim.x; or the same over the grid.
void KernelWalker::find_thread_axis(Loop& l) {
  const std::string axes[3] = {"x", "y", "z"};
  for (int axis = 0; axis < 3; ++axis) {
    const std::string& a = axes[axis];
    if (!(l.first.coefficient_of("threadIdx." + a) == Polynomial(1))) continue;
    const Polynomial dim = facts_.resolved(Polynomial::name("blockDim." + a));
    const Polynomial step = facts_.resolved(l.step);
    if (step == dim) l.thread_axis = axis;
    if (step ==
        facts_.resolved(Polynomial::name("blockDim." + a) * Polynomial::name("gridDim." + a)))
      l.thread_axis = 3 + axis;
  }
}

/// A variable bumped once in every iteration by an invariant: its value at the top is start + bumps
/// * amount.
bool KernelWalker::fold_induction(Loop& l,
                                  const LoopHeader& header,
                                  const Declarator& d,
                                  const std::vector<const Write*>& writes) {
  const Write* only = nullptr;
  for (const Write* write : writes) {
    if (write->variable != &d) continue;
    if (only != nullptr) return false;
    only = write;
  }
  if (only == nullptr || only->escapes || only->partial || only->node == nullptr ||
      header.has_continue)
    return false;
  if (!d.is_pointer() && !variables_.is_integer(d)) return false;
  bool negative = false;
  const Expr* amount = bump_of(*only, negative);
  const bool by_one = amount == nullptr && (only->node->op == "++" || only->node->op == "--");
  if (amount == nullptr && !by_one) return false;
  const bool in_step = l.stmt->step != nullptr && l.stmt->step->span.contains(only->node->span);
  const bool at_top_level = only->stmt != nullptr && only->stmt->kind == StmtKind::expression &&
                            is_unconditional(*only->node) &&
                            (only->stmt->parent == l.stmt->body || only->stmt == l.stmt->body);
  if (!in_step && !at_top_level) return false;
  Value bump;
  bump.full = bump.source = 1;
  if (amount != nullptr) {
    if (!is_invariant(facts_, *amount, writes)) return false;
    visit_quietly(*amount);
    bump = reader_.read(*amount);
    if (bump.is_pointer() || !bump.full.is_known()) return false;
  }
  const Polynomial passed = Polynomial::name(l.variable);
  const auto count = [&](const Polynomial& b,
                         const Polynomial& first) -> std::optional<Polynomial> {
    Polynomial difference = passed - first;
    if (b == l.step) return difference;
    const auto step = l.step.constant();
    if (step && b.divided_by(*step)) return *b.divided_by(*step) * difference;
    const Polynomial quotient = Polynomial::operation("/", {b, l.step});
    if (quotient * l.step == b) return quotient * difference;
    return std::nullopt;
  };
  const auto full = count(bump.full, l.first);
  const auto source = count(bump.source, l.source_first);
  if (!full) return false;
  Value value = variables_.value_of(d);
  const Polynomial scale(d.is_pointer() ? (negative ? -value.width : value.width)
                         : negative     ? -1
                                        : 1);
  value.full += scale * *full;
  value.source += scale * (source ? *source : *full);
  if (!value.full.is_known()) return false;
  value.subscripts.clear();
  variables_.set(d, value);
  l.inductions.push_back(std::string(d.name));
  return true;
}
void walk_kernel(KernelFacts& facts) {
  KernelWalker(facts).run();
}

bool leaves(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::return_:
    case StmtKind::break_:
    case StmtKind::continue_:
    case StmtKind::goto_:
      return true;
    case StmtKind::block:
      return !s.children.empty() && leaves(*s.children.back());
    case StmtKind::if_:
      return s.otherwise != nullptr && s.body != nullptr && leaves(*s.body) && leaves(*s.otherwise);
    default:
      return false;
  }
}

}  // namespace warpath::model
