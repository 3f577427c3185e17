#include "moves/model/kernel_walker.h"

#include <algorithm>

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
  for (const Declarator* p : at_.facts.kernel->parameters) {
    if (p->is_pointer() || p->is_array()) array_of(at_.facts, *p);
    if (!p->name.empty()) at_.variables.claim(*p);
  }
  statement(*at_.facts.kernel->body);
}

void KernelWalker::assembly(const Stmt& s) {
  const AssemblyEffect effect = effect_of_assembly(at_.unit, s);
  at_.facts.has_assembly = at_.facts.has_assembly || effect != AssemblyEffect::none;
  at_.facts.has_warp_ops = at_.facts.has_warp_ops || effect == AssemblyEffect::joins;
  if (effect == AssemblyEffect::unknown) at_.state.unknown_effects.push_back({"", s.span, true});
  for (std::size_t i = 0; i < s.operands.size(); ++i) {
    expressions_.visit(*s.operands[i], i < s.outputs ? Mode::read_write : Mode::read);
    // of an element the instructions get the value
    if (effect == AssemblyEffect::unknown || !s.operands[i]->is(ExprKind::subscript))
      expressions_.escape(*s.operands[i]);
    if (i < s.outputs) expressions_.changed(*s.operands[i]);
  }
}

void KernelWalker::statement(const Stmt& s) {
  at_.state.guards[&s] = at_.guards;
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
      expressions_.unknown_call(at_.unit.plain_text(s.header), s.span);
      if (s.expr != nullptr) expressions_.visit(*s.expr, Mode::read);
      forget_written(s.span);
      if (s.body != nullptr) statement(*s.body);
      forget_written(s.span);
      break;
    case StmtKind::try_:
      if (s.body != nullptr) statement(*s.body);
      break;
    case StmtKind::goto_:
      expressions_.unknown_call("goto", s.span);
      break;
    default:
      if (s.expr == nullptr) break;
      expressions_.visit(*s.expr, Mode::read);
      if (s.is(StmtKind::expression) && s.expr->kind == ExprKind::name &&
          !at_.state.declared.contains(s.expr))
        lone_word(*s.expr);
      break;
  }
}

/// A macro that stands alone: harmless if it is empty or a pragma.
void KernelWalker::lone_word(const Expr& e) {
  const Macro* const macro = at_.unit.macro(e.name);
  const bool harmless =
      macro != nullptr && (macro->body.empty() || macro->body.starts_with("_Pragma"));
  if (!harmless) expressions_.unknown_call(std::string(e.name), e.span);
}

void KernelWalker::block(const Stmt& s) {
  const std::size_t mark = at_.guards.size();
  for (const Stmt* child : s.children) {
    statement(*child);
    if (at_.guards.size() >= kMostGuards) continue;  // fewer guards are still true
    if (child->kind != StmtKind::if_ || child->otherwise != nullptr || child->expr == nullptr ||
        !leaves(*child->body))
      continue;
    Guard& guard = at_.add_guard(*child->expr, true, *child);
    guard.early_exit = true;
    guard.exits_loop = child->body != nullptr && !returns(*child->body);
  }
  at_.guards.resize(mark);
}

bool KernelWalker::returns(const Stmt& s) {
  if (s.kind == StmtKind::return_) return true;
  return s.kind == StmtKind::block && !s.children.empty() && returns(*s.children.back());
}

void KernelWalker::declaration(const Stmt& s) {
  for (const Declarator* d : s.declarators) {
    for (const Expr* e : d->extents) {
      if (e != nullptr) expressions_.visit(*e, Mode::read);
    }
    for (const Expr* e : d->init) expressions_.visit(*e, Mode::read);
    const bool object = !d->is_pointer() && !d->reference && !d->has(kAuto) &&
                        (d->init_form == InitForm::parens || d->init_form == InitForm::braces);
    for (const Expr* e : d->init) {
      if (object) expressions_.escape(*e);  // a pointer goes into an object
    }
    if (d->is_array()) {
      array_of(at_.facts, *d);
      continue;
    }
    const bool one = d->value() != nullptr && d->value()->kind != ExprKind::init_list;
    Value value =
        one ? (d->reference ? at_.reader.place(*d->value()) : at_.reader.read(*d->value()))
            : Value{};
    if (d->reference && !value.is_pointer()) value = one ? at_.reader.read(*d->value()) : Value{};
    at_.variables.assign(*d, value);
  }
}

void KernelWalker::branch(const Stmt& s) {
  if (s.init != nullptr) statement(*s.init);
  if (s.expr != nullptr) expressions_.visit(*s.expr, Mode::read);
  VariableValues::Environment before = at_.variables.now();
  const std::size_t mark = at_.guards.size();
  if (s.expr != nullptr) at_.add_guard(*s.expr, false, s);
  if (s.body != nullptr) statement(*s.body);
  at_.guards.resize(mark);
  const bool then_leaves = s.body != nullptr && leaves(*s.body);
  VariableValues::Environment after_then = at_.variables.exchange(std::move(before));
  if (s.otherwise != nullptr) {
    if (s.expr != nullptr) at_.add_guard(*s.expr, true, s);
    statement(*s.otherwise);
    at_.guards.resize(mark);
  }
  const bool else_leaves = s.otherwise != nullptr && leaves(*s.otherwise);
  if (else_leaves) {
    at_.variables.exchange(std::move(after_then));
  } else if (!then_leaves) {
    const VariableValues::Environment limited = limits(s, after_then);
    at_.variables.join(after_then);
    for (const auto& [d, value] : limited) at_.variables.set(*d, value);
  }
}

/// Variables that `if (v >= n) v = n - 1;` limits.
VariableValues::Environment KernelWalker::limits(const Stmt& s,
                                                 const VariableValues::Environment& after_then) {
  VariableValues::Environment out;
  if (s.otherwise != nullptr || s.expr == nullptr || s.init != nullptr) return out;
  for (const auto& [d, no] : at_.variables.now()) {
    const auto yes = after_then.find(d);
    if (yes == after_then.end() || yes->second.is_pointer() || no.is_pointer() ||
        yes->second.full == no.full)
      continue;
    const std::string_view chosen = at_.reader.extremum(*s.expr, yes->second.full, no.full);
    if (!chosen.empty()) out[d] = at_.reader.combine(chosen, {yes->second, no});
  }
  return out;
}

void KernelWalker::switched(const Stmt& s) {
  if (s.init != nullptr) statement(*s.init);
  if (s.expr != nullptr) expressions_.visit(*s.expr, Mode::read);
  forget_written(s.span);
  if (s.body != nullptr) {
    const std::size_t mark = at_.guards.size();
    if (s.expr != nullptr) {  // reached for some values of it
      Guard& guard = at_.add_guard(*s.expr, false, s);
      guard.complete = false;
      guard.nonnegative.clear();
    }
    statement(*s.body);
    at_.guards.resize(mark);
  }
  forget_written(s.span);
}

void KernelWalker::forget_written(Span span) {
  for (const Write* write : writes_in(at_.facts, span)) at_.variables.forget(*write->variable);
}

void KernelWalker::loop(const Stmt& s) {
  const std::size_t guards = at_.guards.size();
  if (s.init != nullptr) statement(*s.init);
  auto owned = std::make_unique<Loop>();
  Loop& l = *owned;
  at_.facts.loops.push_back(std::move(owned));
  at_.state.loops[&s] = &l;
  l.stmt = &s;
  l.parent = at_.loops.empty() ? nullptr : at_.loops.back();
  l.depth = static_cast<int>(at_.loops.size());
  if (!at_.loops.empty()) at_.loops.back()->children.push_back(&l);

  const Span inside{s.init != nullptr ? s.init->span.end : s.span.begin, s.span.end};
  const std::vector<const Write*> writes = writes_in(at_.facts, inside);
  LoopHeader header = read_header(at_.facts, s, writes);
  if (header.variable != nullptr && !at_.variables.may_count(*header.variable))
    header.variable = nullptr;
  if (header.variable != nullptr) {
    for (const Expr* e : {header.bound, header.step}) {
      if (e != nullptr) expressions_.visit_quietly(*e);
    }
    fill_range(l, header);
  }
  const std::string own = l.counted ? l.variable : std::string();
  for (const Write* write : writes) {
    const Declarator& d = *write->variable;
    if (&d == header.variable && l.counted) continue;
    if (is_inside_declaration(d, s)) continue;
    if (!l.counted || !fold_induction(l, header, d, writes)) at_.variables.forget(d);
  }
  if (l.counted) {
    Value index;
    index.full = index.source = Polynomial::name(l.variable);
    at_.variables.set(*header.variable, index);
    at_.variables.begin_loop(own);
  }
  VariableValues::Environment at_top = at_.variables.now();
  at_.loops.push_back(&l);
  if (s.kind != StmtKind::do_ && s.expr != nullptr) expressions_.visit(*s.expr, Mode::read);
  if (s.body != nullptr) statement(*s.body);
  if (s.kind == StmtKind::do_ && s.expr != nullptr) expressions_.visit(*s.expr, Mode::read);
  if (s.step != nullptr) expressions_.visit(*s.step, Mode::read);
  at_.loops.pop_back();
  if (l.counted) at_.variables.end_loop(own);
  at_.variables.exchange(std::move(at_top));
  for (const Write* write : writes) {
    if (!is_inside_declaration(*write->variable, s)) at_.variables.forget(*write->variable);
  }
  at_.guards.resize(guards);
}

/// Declared in the loop's body: another variable each time.
bool KernelWalker::is_inside_declaration(const Declarator& d, const Stmt& loop) {
  return d.stmt != nullptr && loop.body != nullptr && is_inside(*d.stmt, *loop.body);
}

void KernelWalker::fill_range(Loop& l, const LoopHeader& h) {
  const Value first = at_.variables.value_of(*h.variable);
  const Value bound = at_.reader.read(*h.bound);
  Value step;
  if (h.step == nullptr) {
    step.full = step.source = 1;
  } else {
    step = at_.reader.read(*h.step);
  }
  if (h.step_negative) step.full = -step.full;
  if (first.is_pointer() || bound.is_pointer() || !first.full.is_known() ||
      !bound.full.is_known() || !step.full.is_known())
    return;
  const auto constant_step = at_.facts.resolved(step.full).constant();
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
    } else if (const auto exact = at_.facts.resolved(distance).divided_by(width)) {
      l.trips = *exact;
    }
    if (const auto count = at_.facts.resolved(distance).constant()) {
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
    const Polynomial dim = at_.facts.resolved(Polynomial::name("blockDim." + a));
    const Polynomial step = at_.facts.resolved(l.step);
    if (step == dim) l.thread_axis = axis;
    if (step ==
        at_.facts.resolved(Polynomial::name("blockDim." + a) * Polynomial::name("gridDim." + a)))
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
  if (!d.is_pointer() && !at_.variables.is_integer(d)) return false;
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
    if (!is_invariant(at_.facts, *amount, writes)) return false;
    expressions_.visit_quietly(*amount);
    bump = at_.reader.read(*amount);
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
  Value value = at_.variables.value_of(d);
  const Polynomial scale(d.is_pointer() ? (negative ? -value.width : value.width)
                         : negative     ? -1
                                        : 1);
  value.full += scale * *full;
  value.source += scale * (source ? *source : *full);
  if (!value.full.is_known()) return false;
  value.subscripts.clear();
  at_.variables.set(d, value);
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
