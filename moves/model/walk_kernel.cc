#include <algorithm>

#include "moves/model/facts_state.h"
#include "moves/model/loop_header.h"
#include "moves/model/storage.h"

namespace warpath::model {
namespace {

using Environment = std::map<const Declarator*, Value>;
enum class Mode : std::uint8_t { read, write, read_write, none };

constexpr int kHelperDepth = 4;
constexpr std::size_t kMostAccesses = 20000;

bool is_barrier(std::string_view name) {
  return name == "__syncthreads" || name == "__syncthreads_or" || name == "__syncthreads_and" || name == "__syncthreads_count" || name == "__barrier_sync";
}
bool is_warp_op(std::string_view name) {
  return name.starts_with("__shfl") || name.starts_with("__ballot") || name.starts_with("__any") || name.starts_with("__all") ||
         name.starts_with("__syncwarp") || name.starts_with("__activemask") || name.starts_with("__match") || name.starts_with("__reduce_");
}
bool is_harmless(std::string_view name) {
  return name.starts_with("__threadfence") || name.starts_with("__builtin_assume") || name == "__builtin_expect" || name == "assert" ||
         name == "static_assert" || name == "__cvta_generic_to_shared" || name == "__nanosleep" || name == "clock" || name == "clock64" ||
         name == "__builtin_unreachable" || name == "__isShared" || name == "__isGlobal";
}
bool is_load_intrinsic(std::string_view name) { return name.starts_with("__ld") && name.size() <= 6; }
bool is_store_intrinsic(std::string_view name) { return name == "__stcs" || name == "__stcg" || name == "__stwb" || name == "__stwt"; }

class KernelWalker {
 public:
  explicit KernelWalker(KernelFacts& facts) : facts_(facts), state_(*facts.state), unit_(*facts.unit), reader_(facts) {}

  void run() {
    for (const Declarator* p : facts_.kernel->parameters) {
      if (p->is_pointer() || p->is_array()) array_of(facts_, *p);
      if (!p->name.empty()) owners_.emplace(p->name, p);
    }
    statement(*facts_.kernel->body);
  }

 private:
  // Values of variables.

  Value value_of(const Declarator& d) {
    if (const auto found = environment_.find(&d); found != environment_.end()) return found->second;
    Value out;
    if (d.is_array() || d.is_pointer()) {
      out.array = array_of(facts_, d);
      out.full = out.source = 0;
    } else if (d.function == nullptr) {
      const auto constant = unit_.constants().find(d.name);
      const bool known = constant != unit_.constants().end() && !unit_.bindings().contains(d.name);
      out.full = out.source = known ? Polynomial(constant->second) : Polynomial::name(d.name);
    } else if (is_integer(d)) {
      out.full = out.source = Polynomial::name(d.name);
    }
    return out;
  }

  [[nodiscard]] bool is_integer(const Declarator& d) const {
    if (d.is_pointer() || d.is_array()) return false;
    const std::string type = unit_.resolved_type(unit_.plain_text(d.type));
    if (type == "auto" || d.has(kAuto)) return true;
    if (is_integer_type(type)) return size_of_type(type) >= 4;  // narrow ones wrap
    return size_of_type(type) == 0;
  }

  [[nodiscard]] bool is_stable(const Declarator& d) const { return !state_.write_counts.contains(&d); }

  void assign(const Declarator& d, Value value) {
    if (d.is_array()) return;
    if (!d.is_pointer()) {
      if (value.is_pointer() && (d.has(kAuto) || d.reference)) {
        environment_[&d] = value;
        return;
      }
      if (!is_integer(d)) {
        value = Value{};
      } else if (!value.full.is_known()) {
        value.full = value.source = is_stable(d) ? unique(d) : fresh_atom(state_, d.name);
      }
      value.array = -1;
      if (is_stable(d) && !d.name.empty()) value.source = Polynomial::name(d.name);
    } else if (!value.is_pointer()) {
      value = unknown_pointer(d);
    }
    environment_[&d] = value;
  }

  /// The atom of a variable that is set once: its name, as long as no other variable took it.
  Polynomial unique(const Declarator& d) {
    if (active_.contains(d.name)) return fresh_atom(state_, d.name);
    const auto [owner, fresh] = owners_.try_emplace(std::string(d.name), &d);
    return fresh || owner->second == &d ? Polynomial::name(d.name) : fresh_atom(state_, d.name);
  }

  Value unknown_pointer(const Declarator& d) {
    Value out;
    out.array = array_of(facts_, d);
    Array& array = facts_.arrays[static_cast<std::size_t>(out.array)];
    if (!d.is_parameter && array.declarator == &d && array.space == Space::global) array.escapes = true;
    out.full = out.source = d.is_parameter ? fresh_atom(state_, std::string(d.name) + "_offset") : Polynomial(0);
    return out;
  }

  void forget(const Declarator& d) {
    if (d.is_array()) return;
    if (d.is_pointer()) {
      Value before = value_of(d);
      before.full = before.source = fresh_atom(state_, std::string(d.name) + "_offset");
      environment_[&d] = before;
    } else if (is_integer(d)) {
      Value out;
      out.full = out.source = fresh_atom(state_, d.name);
      environment_[&d] = out;
    } else {
      environment_[&d] = Value{};
    }
  }

  /// After two paths meet: what they disagree on is unknown.
  void join(const Environment& other) {
    for (auto& [d, value] : environment_) {
      const auto there = other.find(d);
      if (there == other.end()) continue;
      if (there->second.array != value.array) {
        value = d->is_pointer() ? unknown_pointer(*d) : Value{};
      } else if (!(there->second.full == value.full) && (value.full.is_known() || there->second.full.is_known())) {
        forget(*d);
      } else {
        if (!(there->second.source == value.source)) value.source = value.full;
      }
    }
    for (const auto& [d, value] : other) {
      if (!environment_.contains(d)) environment_.emplace(d, value);
    }
  }

  // Statements.

  void statement(const Stmt& s) {
    state_.guards[&s] = guards_;
    switch (s.kind) {
      case StmtKind::block: block(s); break;
      case StmtKind::declaration: declaration(s); break;
      case StmtKind::if_: branch(s); break;
      case StmtKind::for_:
      case StmtKind::while_:
      case StmtKind::do_:
      case StmtKind::range_for: loop(s); break;
      case StmtKind::switch_: switched(s); break;
      case StmtKind::assembly:
        facts_.has_assembly = true;
        for (std::size_t i = 0; i < s.operands.size(); ++i) {
          visit(*s.operands[i], i < s.outputs ? Mode::read_write : Mode::read);
          escape(*s.operands[i]);
          if (i < s.outputs) changed(*s.operands[i]);
        }
        break;
      case StmtKind::macro:  // may repeat or skip its body
        unknown_call(unit_.plain_text(s.header));
        if (s.expr != nullptr) visit(*s.expr, Mode::read);
        forget_written(s.span);
        if (s.body != nullptr) statement(*s.body);
        forget_written(s.span);
        break;
      case StmtKind::try_:
        if (s.body != nullptr) statement(*s.body);
        break;
      case StmtKind::goto_: unknown_call("goto"); break;
      default:
        if (s.expr != nullptr) visit(*s.expr, Mode::read);
        break;
    }
  }

  void block(const Stmt& s) {
    const std::size_t mark = guards_.size();
    for (const Stmt* child : s.children) {
      statement(*child);
      if (child->kind != StmtKind::if_ || child->otherwise != nullptr || child->expr == nullptr || !leaves(*child->body)) continue;
      Guard& guard = add_guard(*child->expr, true, *child);
      guard.early_exit = true;
      guard.exits_loop = child->body != nullptr && !returns(*child->body);
    }
    guards_.resize(mark);
  }

  static bool returns(const Stmt& s) {
    if (s.kind == StmtKind::return_) return true;
    return s.kind == StmtKind::block && !s.children.empty() && returns(*s.children.back());
  }

  Guard& add_guard(const Expr& condition, bool negated, const Stmt& stmt) {
    auto guard = std::make_unique<Guard>();
    guard->condition = &condition;
    guard->negated = negated;
    guard->stmt = &stmt;
    guard->complete = reader_.comparisons(condition, negated, guard->nonnegative);
    guards_.push_back(guard.get());
    facts_.guards.push_back(std::move(guard));
    return *facts_.guards.back();
  }

  void declaration(const Stmt& s) {
    for (const Declarator* d : s.declarators) {
      for (const Expr* e : d->extents) {
        if (e != nullptr) visit(*e, Mode::read);
      }
      for (const Expr* e : d->init) visit(*e, Mode::read);
      if (d->is_array()) {
        array_of(facts_, *d);
        continue;
      }
      const bool one = d->value() != nullptr && d->value()->kind != ExprKind::init_list;
      Value value = one ? (d->reference ? reader_.place(*d->value()) : reader_.read(*d->value())) : Value{};
      if (d->reference && !value.is_pointer()) value = one ? reader_.read(*d->value()) : Value{};
      assign(*d, value);
    }
  }

  void branch(const Stmt& s) {
    if (s.init != nullptr) statement(*s.init);
    if (s.expr != nullptr) visit(*s.expr, Mode::read);
    const Environment before = environment_;
    const std::size_t mark = guards_.size();
    if (s.expr != nullptr) add_guard(*s.expr, false, s);
    if (s.body != nullptr) statement(*s.body);
    guards_.resize(mark);
    const Environment after_then = environment_;
    const bool then_leaves = s.body != nullptr && leaves(*s.body);
    environment_ = before;
    if (s.otherwise != nullptr) {
      if (s.expr != nullptr) add_guard(*s.expr, true, s);
      statement(*s.otherwise);
      guards_.resize(mark);
    }
    const bool else_leaves = s.otherwise != nullptr && leaves(*s.otherwise);
    if (else_leaves) {
      environment_ = after_then;
    } else if (!then_leaves) {
      join(after_then);
    }
  }

  void switched(const Stmt& s) {
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

  void forget_written(Span span) {
    for (const Write* write : writes_in(facts_, span)) forget(*write->variable);
  }

  void loop(const Stmt& s) {
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
    if (header.variable != nullptr && (active_.contains(header.variable->name) || hides_another(*header.variable))) header.variable = nullptr;
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
      if (!l.counted || !fold_induction(l, header, d, writes)) forget(d);
    }
    if (l.counted) {
      Value index;
      index.full = index.source = Polynomial::name(l.variable);
      environment_[header.variable] = index;
      active_.insert(own);
    }
    const Environment at_top = environment_;
    loops_.push_back(&l);
    if (s.kind != StmtKind::do_ && s.expr != nullptr) visit(*s.expr, Mode::read);
    if (s.body != nullptr) statement(*s.body);
    if (s.kind == StmtKind::do_ && s.expr != nullptr) visit(*s.expr, Mode::read);
    if (s.step != nullptr) visit(*s.step, Mode::read);
    loops_.pop_back();
    if (l.counted) active_.erase(own);
    environment_ = at_top;
    for (const Write* write : writes) {
      if (!is_inside_declaration(*write->variable, s)) forget(*write->variable);
    }
    guards_.resize(guards);
  }

  /// Another variable of this name may be part of values that the loop uses.
  [[nodiscard]] bool hides_another(const Declarator& d) const {
    const auto owner = owners_.find(d.name);
    return owner != owners_.end() && owner->second != &d;
  }

  /// Declared in the loop's body: another variable each time.
  static bool is_inside_declaration(const Declarator& d, const Stmt& loop) {
    return d.stmt != nullptr && loop.body != nullptr && is_inside(*d.stmt, *loop.body);
  }

  void fill_range(Loop& l, const LoopHeader& h) {
    const Value first = value_of(*h.variable);
    const Value bound = reader_.read(*h.bound);
    Value step;
    if (h.step == nullptr) {
      step.full = step.source = 1;
    } else {
      step = reader_.read(*h.step);
    }
    if (h.step_negative) step.full = -step.full;
    if (first.is_pointer() || bound.is_pointer() || !first.full.is_known() || !bound.full.is_known() || !step.full.is_known()) return;
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
  void find_thread_axis(Loop& l) {
    const std::string axes[3] = {"x", "y", "z"};
    for (int axis = 0; axis < 3; ++axis) {
      const std::string& a = axes[axis];
      if (!(l.first.coefficient_of("threadIdx." + a) == Polynomial(1))) continue;
      const Polynomial dim = facts_.resolved(Polynomial::name("blockDim." + a));
      const Polynomial step = facts_.resolved(l.step);
      if (step == dim) l.thread_axis = axis;
      if (step == facts_.resolved(Polynomial::name("blockDim." + a) * Polynomial::name("gridDim." + a))) l.thread_axis = 3 + axis;
    }
  }

  /// A variable bumped once in every iteration by an invariant: its value at the top is start + bumps * amount.
  bool fold_induction(Loop& l, const LoopHeader& header, const Declarator& d, const std::vector<const Write*>& writes) {
    const Write* only = nullptr;
    for (const Write* write : writes) {
      if (write->variable != &d) continue;
      if (only != nullptr) return false;
      only = write;
    }
    if (only == nullptr || only->escapes || only->partial || only->node == nullptr || header.has_continue) return false;
    if (!d.is_pointer() && !is_integer(d)) return false;
    bool negative = false;
    const Expr* amount = bump_of(*only, negative);
    const bool by_one = amount == nullptr && (only->node->op == "++" || only->node->op == "--");
    if (amount == nullptr && !by_one) return false;
    const bool in_step = l.stmt->step != nullptr && l.stmt->step->span.contains(only->node->span);
    const bool at_top_level = only->stmt != nullptr && only->stmt->kind == StmtKind::expression && only->stmt->expr == only->node &&
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
    const auto count = [&](const Polynomial& b, const Polynomial& first) -> std::optional<Polynomial> {
      const Polynomial difference = passed - first;
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
    Value value = value_of(d);
    const Polynomial scale(d.is_pointer() ? (negative ? -value.width : value.width) : negative ? -1 : 1);
    value.full += scale * *full;
    value.source += scale * (source ? *source : *full);
    if (!value.full.is_known()) return false;
    value.subscripts.clear();
    environment_[&d] = value;
    l.inductions.push_back(std::string(d.name));
    return true;
  }

  // Expressions.

  /// Notes values of names without accesses or effects: for what is looked at ahead of its turn.
  void visit_quietly(const Expr& e) {
    walk(e, [&](const Expr& inner) {
      note_name(inner);
      return true;
    });
  }

  void note_name(const Expr& e) {
    if (e.kind != ExprKind::name) return;
    const auto declared = state_.declared.find(&e);
    if (declared != state_.declared.end()) state_.values[&e] = value_of(*declared->second);
  }

  void visit(const Expr& e, Mode mode) {
    switch (e.kind) {
      case ExprKind::name: note_name(e); return;
      case ExprKind::assign: assignment(e); return;
      case ExprKind::subscript:
        for (std::size_t i = 1; i < e.args.size(); ++i) visit(e.arg(i), Mode::read);
        visit(e.arg(0), is_row(e) ? Mode::none : Mode::read);
        if (mode != Mode::none) access(e, mode);
        return;
      case ExprKind::unary:
        if (e.args.empty()) return;
        if (e.op == "*") {
          visit(e.arg(0), Mode::read);
          if (mode != Mode::none) access(e, mode);
        } else if (e.op == "&") {
          visit(e.arg(0), Mode::none);
        } else if (e.op == "++" || e.op == "--") {
          visit(e.arg(0), Mode::read_write);
          bumped(e);
        } else {
          visit(e.arg(0), Mode::read);
        }
        return;
      case ExprKind::postfix:
        visit(e.arg(0), e.op == "..." ? mode : Mode::read_write);
        if (e.op != "...") bumped(e);
        return;
      case ExprKind::member:
        visit(e.arg(0), e.op == "." ? mode : Mode::read);
        return;
      case ExprKind::binary:
        visit(e.arg(0), Mode::read);
        logical(e);
        return;
      case ExprKind::conditional: conditional(e); return;
      case ExprKind::call: call(e); return;
      case ExprKind::lambda:
      case ExprKind::statement:
      case ExprKind::launch:
      case ExprKind::opaque:
      case ExprKind::new_object:
        unknown_call(std::string(name(e.kind)));
        return;
      case ExprKind::cast:
        if (e.args.size() == 1) {
          visit(e.arg(0), mode);
          return;
        }
        [[fallthrough]];
      default:
        for (const Expr* arg : e.args) visit(*arg, Mode::read);
        return;
    }
  }

  /// The base of a subscript that is a row of an array with more dimensions is no access of its own.
  bool is_row(const Expr& e) const { return e.arg(0).kind == ExprKind::subscript || e.arg(0).kind == ExprKind::cast; }

  void logical(const Expr& e) {
    const bool both = e.op == "&&" || e.op == "and";
    const bool either = e.op == "||" || e.op == "or";
    if (both || either) {
      add_guard(e.arg(0), either, *e.stmt);
      visit(e.arg(1), Mode::read);
      guards_.pop_back();
    } else {
      visit(e.arg(1), Mode::read);
    }
  }

  void conditional(const Expr& e) {
    visit(e.arg(0), Mode::read);
    for (const bool negated : {false, true}) {
      add_guard(e.arg(0), negated, *e.stmt);
      visit(e.arg(negated ? 2 : 1), Mode::read);
      guards_.pop_back();
    }
  }

  void assignment(const Expr& e) {
    visit(e.arg(1), Mode::read);
    visit(e.arg(0), e.op == "=" ? Mode::write : Mode::read_write);
    if (e.arg(0).kind != ExprKind::name) {
      if (e.arg(0).kind == ExprKind::member || e.arg(0).kind == ExprKind::cast) changed(e.arg(0));
      escape_if_pointer(e.arg(1), e.arg(0));
      return;
    }
    const auto declared = state_.declared.find(&e.arg(0));
    if (declared == state_.declared.end()) return;
    const Declarator& d = *declared->second;
    const Value before = value_of(d);
    const Value right = reader_.read(e.arg(1));
    Value after;
    if (e.op == "=") {
      after = right;
    } else if (e.op == "+=" || e.op == "-=") {
      const Polynomial scale(e.op == "+=" ? before.width : -before.width);
      after = before;
      after.full = before.full + scale * right.full;
      after.source = before.source + scale * right.source;
      after.subscripts.clear();
    } else if (e.op == "*=") {
      after.full = before.full * right.full;
      after.source = before.source * right.source;
    } else if (!before.is_pointer() && e.op.size() >= 2) {
      const std::string_view op = e.op.substr(0, e.op.size() - 1);
      after.full = Polynomial::operation(op, {before.full, right.full});
      after.source = Polynomial::operation(op, {before.source, right.source});
    }
    if (d.reference) {
      changed(e.arg(0));
    } else {
      assign(d, after);
    }
  }

  void bumped(const Expr& e) {
    if (e.arg(0).kind != ExprKind::name) return changed(e.arg(0));
    const auto declared = state_.declared.find(&e.arg(0));
    if (declared == state_.declared.end()) return;
    Value value = value_of(*declared->second);
    const Polynomial one(e.op == "++" ? value.width : -value.width);
    value.full += one;
    value.source += one;
    value.subscripts.clear();
    assign(*declared->second, value);
  }

  /// A variable gets a value the model does not know.
  void changed(const Expr& target) {
    const Expr* e = &target;
    while (e->kind == ExprKind::member || e->kind == ExprKind::cast || (e->kind == ExprKind::unary && e->op == "&")) e = e->args[0];
    const auto declared = e->kind == ExprKind::name ? state_.declared.find(e) : state_.declared.end();
    if (declared != state_.declared.end()) forget(*declared->second);
  }

  void escape(const Expr& e) {
    const Value where = reader_.read(e);
    if (where.is_pointer()) facts_.arrays[static_cast<std::size_t>(where.array)].escapes = true;
  }
  void escape_if_pointer(const Expr& value, const Expr& target) {
    const Value where = reader_.read(value);
    if (where.is_pointer() && target.kind != ExprKind::name) facts_.arrays[static_cast<std::size_t>(where.array)].escapes = true;
  }

  void unknown_call(const std::string& what) {
    facts_.has_unknown_calls = true;
    if (std::find(facts_.unknown_calls.begin(), facts_.unknown_calls.end(), what) == facts_.unknown_calls.end()) facts_.unknown_calls.push_back(what);
  }

  void call(const Expr& e) {
    std::string_view f = callee(e);
    if (f.starts_with("std::")) f.remove_prefix(5);
    if (is_barrier(f)) facts_.has_barrier = true;
    if (is_warp_op(f)) facts_.has_warp_ops = true;
    const bool atomic = f.starts_with("atomic") && e.args.size() >= 2 && unit_.find_function(f) == nullptr;
    if (atomic || is_load_intrinsic(f) || is_store_intrinsic(f)) {
      for (std::size_t i = 2; i < e.args.size(); ++i) visit(e.arg(i), Mode::read);
      if (e.args.size() < 2) return;
      visit(e.arg(1), Mode::none);
      pointed(e.arg(1), atomic ? AccessKind::atomic : is_store_intrinsic(f) ? AccessKind::write : AccessKind::read, atomic ? f : std::string_view(), e);
      return;
    }
    for (std::size_t i = 1; i < e.args.size(); ++i) visit(e.arg(i), Mode::read);
    const Function* helper = unit_.find_function(f);
    const Expr* result = helper != nullptr ? returned_expression(*helper) : nullptr;
    if (result != nullptr && helper_depth_ < kHelperDepth && helper->parameters.size() == e.args.size() - 1) return expand(e, *helper, *result);
    if (e.arg(0).kind != ExprKind::name && e.arg(0).kind != ExprKind::member) visit(e.arg(0), Mode::read);
    if (is_barrier(f) || is_warp_op(f) || is_harmless(f) || (!f.empty() && is_pure_function(unit_, f))) return;
    unknown_call(f.empty() ? unit_.plain_text(e.arg(0).span) : std::string(f));
    for (std::size_t i = 1; i < e.args.size(); ++i) {
      escape(e.arg(i));
      const bool by_reference = std::any_of(state_.writes.begin(), state_.writes.end(), [&](const Write& w) { return w.node == &e && e.arg(i).span.contains(w.name->span); });
      if (by_reference || e.arg(i).is_op(ExprKind::unary, "&")) changed(e.arg(i));
    }
  }

  /// A helper that is one return: its accesses are those of the call.
  void expand(const Expr& e, const Function& helper, const Expr& result) {
    std::vector<Value> arguments;
    for (std::size_t i = 1; i < e.args.size(); ++i) arguments.push_back(reader_.read(e.arg(i)));
    walk(result, [&](const Expr& inner) {
      if (inner.kind != ExprKind::name) return true;
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (helper.parameters[i]->name == inner.name) state_.values[&inner] = arguments[i];
      }
      return true;
    });
    ++helper_depth_;
    const Expr* const outer = helper_call_;
    if (helper_call_ == nullptr) helper_call_ = &e;
    visit_helper(result);
    helper_call_ = outer;
    --helper_depth_;
  }

  void visit_helper(const Expr& e) {
    if (e.kind == ExprKind::name) return;
    if (e.kind == ExprKind::call) return call(e);
    for (const Expr* arg : e.args) {
      const bool address = e.is_op(ExprKind::unary, "&") && arg->kind == ExprKind::subscript;
      if (address) {
        for (const Expr* part : arg->args) visit_helper(*part);
      } else {
        visit_helper(*arg);
      }
    }
    if (e.kind == ExprKind::subscript || e.is_op(ExprKind::unary, "*")) access(e, Mode::read);
    if (e.kind == ExprKind::assign) unknown_call("assignment in a helper");
  }

  void access(const Expr& e, Mode mode) {
    const Value where = reader_.place(e);
    if (!where.is_pointer()) {
      // A subscript of something that is no array of the kernel: a member array, a vector's operator[].
      if (!is_local_object(e)) unknown_call(unit_.plain_text(e.span));
      return;
    }
    const Array& array = facts_.arrays[static_cast<std::size_t>(where.array)];
    if (e.kind == ExprKind::subscript && where.width == 1 && where.dimensions < static_cast<int>(array.extents.size())) return;  // a row
    const AccessKind kind = mode == Mode::write ? AccessKind::write : mode == Mode::read_write ? AccessKind::read_write : AccessKind::read;
    record(e, where, kind, {});
  }

  bool is_local_object(const Expr& e) const {
    const Expr* root = e.args[0];
    while (root->kind == ExprKind::member || root->kind == ExprKind::subscript || root->kind == ExprKind::cast) root = root->args[0];
    const auto declared = root->kind == ExprKind::name ? state_.declared.find(root) : state_.declared.end();
    return declared != state_.declared.end() && !declared->second->is_pointer() && declared->second->function != nullptr;
  }

  void pointed(const Expr& pointer, AccessKind kind, std::string_view atomic_op, const Expr& call) {
    const Value where = reader_.read(pointer);
    if (!where.is_pointer()) return unknown_call(std::string(callee(call)));
    const bool element = pointer.is_op(ExprKind::unary, "&") && pointer.arg(0).kind == ExprKind::subscript;
    record(element ? pointer.arg(0) : call, where, kind, atomic_op);
  }

  void record(const Expr& e, const Value& where, AccessKind kind, std::string_view atomic_op) {
    if (facts_.accesses.size() >= kMostAccesses) return unknown_call("too many accesses");
    Access out;
    out.array = where.array;
    out.kind = kind;
    out.atomic_op = std::string(atomic_op);
    out.in_helper = helper_call_ != nullptr;
    out.expr = out.in_helper ? helper_call_ : &e;
    out.stmt = out.expr->stmt;
    out.index = where.full;
    out.source_index = where.source;
    out.subscripts = where.subscripts;
    out.vector_width = where.width;
    out.loops.assign(loops_.begin(), loops_.end());
    out.guards = guards_;
    Array& array = facts_.arrays[static_cast<std::size_t>(where.array)];
    array.read = array.read || out.reads();
    array.written = array.written || out.writes();
    array.atomic = array.atomic || kind == AccessKind::atomic;
    if (out.writes() && array.declarator != nullptr) state_.written_arrays.insert(array.declarator);
    if (!out.in_helper) state_.access_of[out.expr] = static_cast<int>(facts_.accesses.size());
    facts_.accesses.push_back(std::move(out));
  }

  KernelFacts& facts_;
  KernelFacts::State& state_;
  const Unit& unit_;
  ValueReader reader_;
  Environment environment_;
  std::vector<const Guard*> guards_;
  std::vector<Loop*> loops_;
  std::set<std::string, std::less<>> active_;  // variables of the loops around
  std::map<std::string, const Declarator*, std::less<>> owners_;  // whose atom a name is
  const Expr* helper_call_ = nullptr;
  int helper_depth_ = 0;
};

}  // namespace

void walk_kernel(KernelFacts& facts) { KernelWalker(facts).run(); }

bool leaves(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::return_:
    case StmtKind::break_:
    case StmtKind::continue_:
    case StmtKind::goto_: return true;
    case StmtKind::block: return !s.children.empty() && leaves(*s.children.back());
    case StmtKind::if_: return s.otherwise != nullptr && s.body != nullptr && leaves(*s.body) && leaves(*s.otherwise);
    default: return false;
  }
}

}  // namespace warpath::model
