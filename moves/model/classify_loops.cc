#include <algorithm>

#include "moves/model/facts_state.h"
#include "moves/syntax/assembly.h"
#include "moves/syntax/syntax_query.h"

namespace warpath::model {
namespace {

/// The loops inside `loop` whose variables run while its own stands still.
bool encloses(const Loop& loop, const Loop& inner) {
  for (const Loop* l = &inner; l != nullptr; l = l->parent) {
    if (l == &loop) return true;
  }
  return false;
}

/// How far an index spreads over the inner loops of one iteration: lowest and highest value of the
/// part that they add.
struct Spread {
  Polynomial base;       ///< with all inner variables at their first (lowest) value
  Polynomial width = 0;  ///< highest minus lowest; >= 0
};

std::optional<Spread> spread_of(const Polynomial& index, const Access& access, const Loop& loop) {
  Spread out;
  out.base = index;
  for (auto l = access.loops.rbegin(); l != access.loops.rend(); ++l) {  // innermost first
    const Loop& inner = **l;
    if (&inner == &loop) break;
    if (!encloses(loop, inner)) continue;
    if (!inner.counted) {
      for (const std::string& name : inner.assigned) {
        if (out.base.mentions(name)) return std::nullopt;
      }
      continue;
    }
    if (!out.base.mentions(inner.variable)) continue;
    if (!out.base.affine_in(inner.variable)) return std::nullopt;
    const Polynomial coefficient = out.base.coefficient_of(inner.variable);
    const Polynomial last = inner.end + (inner.descending ? 1 : -1);
    Polynomial low = inner.descending ? last : inner.first;
    Polynomial high = inner.descending ? inner.first : last;
    Polynomial run = coefficient * (high - low);
    if (!coefficient.has_only_positive_terms()) {
      if (!(-coefficient).has_only_positive_terms()) return std::nullopt;
      run = -run;
      std::swap(low, high);
    }
    out.width += run.substituted(inner.variable, low);
    out.base = out.base.without(inner.variable) + coefficient * low;
  }
  return out.base.is_known() && out.width.is_known() ? std::optional(out) : std::nullopt;
}

/// Two accesses, at least one a write, meet only in the same iteration of the loop.
bool stay_apart(const KernelFacts& facts,
                const Loop& loop,
                const Access& a,
                const Access& b,
                std::string& why) {
  const std::string& array = facts.arrays[static_cast<std::size_t>(a.array)].name;
  if (a.array != b.array) {
    why = array + " and " + facts.arrays[static_cast<std::size_t>(b.array)].name +
          " may be the same memory";
    return false;
  }
  const Polynomial first = facts.resolved(a.index);
  const Polynomial second = facts.resolved(b.index);
  const bool known = loop.counted && first.is_known() && second.is_known() &&
                     first.affine_in(loop.variable) && second.affine_in(loop.variable);
  const Polynomial stride = first.coefficient_of(loop.variable);
  if (!known || !(stride == second.coefficient_of(loop.variable))) {
    why = "elements of " + array + " in different iterations may meet";
    return false;
  }
  if (stride.is_zero()) {
    why = "every iteration uses the same elements of " + array;
    return false;
  }
  for (const std::string& name : loop.assigned) {
    if (name != loop.variable && (first.mentions(name) || second.mentions(name))) {
      why = "an index of " + array + " depends on " + name + ", which the loop changes";
      return false;
    }
  }
  const auto x = spread_of(first, a, loop);
  const auto y = spread_of(second, b, loop);
  if (!x || !y) {
    why = "an index of " + array + " is not affine";
    return false;
  }
  // Both lie in [base, base + width] for the same iteration; the next is |stride * step| further.
  const Polynomial gap = x->base.without(loop.variable) - y->base.without(loop.variable);
  const auto distance = gap.constant();
  if (!distance) {
    why = "elements of " + array + " in different iterations may meet";
    return false;
  }
  const Polynomial step = facts.resolved(loop.step);
  Polynomial leap = stride * step;
  if (!leap.has_only_positive_terms()) leap = -leap;
  const Polynomial wider = facts.resolved(x->width);
  const Polynomial other = facts.resolved(y->width);
  const Polynomial room = leap - 1 - Polynomial(*distance < 0 ? -*distance : *distance);
  for (const Polynomial& width : {wider, other}) {
    const Polynomial left = room - width;
    const bool fits = left.has_only_positive_terms() || left.is_zero();
    if (!fits && !(wider.is_zero() && other.is_zero() && *distance == 0)) {
      // Elements may fall between: constant leaps apart by something that is no multiple never
      // meet.
      const auto jump = leap.constant();
      if (wider.is_zero() && other.is_zero() && jump && *jump != 0 && *distance % *jump != 0)
        return true;
      why = "elements of " + array + " in different iterations may meet";
      return false;
    }
  }
  return true;
}

/// Declared in the loop's body: each iteration has its own.
bool is_own(const Array& array, const Loop& loop) {
  return array.declarator != nullptr && array.declarator->stmt != nullptr &&
         loop.stmt->body != nullptr && array.space == Space::local &&
         is_inside(*array.declarator->stmt, *loop.stmt->body);
}

class Classifier {
 public:
  Classifier(KernelFacts& facts, Loop& loop) : facts_(facts), state_(*facts.state), loop_(loop) {}

  void run() {
    const Stmt& s = *loop_.stmt;
    inside_ = {s.init != nullptr ? s.init->span.end : s.span.begin, s.span.end};
    writes_ = writes_in(facts_, inside_);
    for (const Write* write : writes_) {
      if (is_outer(*write->variable)) unite(loop_.assigned, write->variable->name);
    }
    look_for_exits();
    loop_.uniform =
        loop_.counted && is_uniform(loop_.first) && is_uniform(loop_.end) && is_uniform(loop_.step);
    if (!loop_.counted) return serial("it is no counting loop the model knows");
    if (loop_.exits_early) return serial("it is left early");
    if (loop_.has_barrier) return serial("it holds a barrier");
    if (!calls_.empty()) return serial("it calls " + calls_);
    const std::vector<Extremum> extrema = extrema_of(facts_, loop_);
    for (std::size_t i = 0; i < loop_.assigned.size(); ++i) {
      if (!is_extremum(extrema, loop_.assigned[i]) && !variable(loop_.assigned[i])) return;
    }
    if (!memory()) return;
    if (!extrema.empty()) {
      serial(carries(std::string(extrema[0].variables[0]->name)));
      loop_.extrema = extrema;
    } else if (loop_.reductions.empty()) {
      loop_.kind = LoopClass::parallel;
    } else {
      const bool scan = std::any_of(loop_.reductions.begin(), loop_.reductions.end(),
                                    [](const Reduction& r) { return r.prefix_used; });
      loop_.kind = scan ? LoopClass::scan : LoopClass::reduction;
    }
  }

 private:
  void serial(const std::string& why) {
    loop_.kind = LoopClass::serial;
    loop_.reason = why;
  }

  static void unite(std::vector<std::string>& out, std::string_view name) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.emplace_back(name);
  }

  [[nodiscard]] bool is_uniform(const Polynomial& p) const {
    return facts_.uniformity(p) < Uniformity::thread;
  }

  [[nodiscard]] bool is_outer(const Declarator& d) const {
    if (d.stmt == nullptr) return true;
    return loop_.stmt->body == nullptr || !is_inside(*d.stmt, *loop_.stmt->body);
  }

  void look_for_exits() {
    const auto look = [&](const Stmt& s) {
      if (s.kind == StmtKind::return_ || s.kind == StmtKind::goto_) loop_.exits_early = true;
      if (s.kind == StmtKind::break_) {
        const Stmt* owner = s.parent;
        while (owner != nullptr && !owner->is_loop() && owner->kind != StmtKind::switch_)
          owner = owner->parent;
        if (owner == loop_.stmt) loop_.exits_early = true;
      }
      if (s.kind == StmtKind::assembly &&
          effect_of_assembly(*facts_.unit, s) != AssemblyEffect::none)
        calls_ = "inline assembly";
      return true;
    };
    if (loop_.stmt->body == nullptr) return;
    walk(*loop_.stmt->body, look);
    walk_expressions(*loop_.stmt, [&](const Expr& e) {
      if (e.kind != ExprKind::call) return true;
      std::string_view f = callee(e);
      if (f.starts_with("__syncthreads") || f == "__barrier_sync") loop_.has_barrier = true;
      if (f.starts_with("__shfl") || f.starts_with("__syncwarp") || f.starts_with("__ballot") ||
          f.starts_with("__reduce_"))
        calls_ = std::string(f);
      const bool known = std::find(facts_.unknown_calls.begin(), facts_.unknown_calls.end(), f) ==
                         facts_.unknown_calls.end();
      if (!known || (f.empty() && facts_.has_unknown_calls))
        calls_ = f.empty() ? "a function" : std::string(f);
      return true;
    });
  }

  /// What the loop does to a variable from outside; false, with the loop serial, if iterations
  /// depend on each other by it.
  bool variable(const std::string& name) {
    if (name == loop_.variable ||
        std::find(loop_.inductions.begin(), loop_.inductions.end(), name) != loop_.inductions.end())
      return true;
    std::vector<const Write*> own;
    for (const Write* write : writes_) {
      if (write->variable->name == name && is_outer(*write->variable)) own.push_back(write);
    }
    std::vector<Reduction> updates;
    for (const Write* write : own) {
      auto update = reduction_of(facts_, *write);
      if (!update || (!updates.empty() && updates[0].op != update->op)) {
        updates.clear();
        break;
      }
      updates.push_back(*update);
    }
    if (!updates.empty() && updates.size() == own.size()) {
      const bool used = prefix_used(*own[0]->variable, updates);
      if (used && feeds_itself(*own[0]->variable, updates))
        return serial(name + " is updated by what its own value decides"), false;
      for (Reduction& update : updates) {
        update.prefix_used = used;
        loop_.reductions.push_back(update);
      }
      return true;
    }
    if (is_private(*own[0]->variable, *loop_.stmt, writes_)) {
      if (read_elsewhere(*own[0]->variable)) return serial(name + " is used after the loop"), false;
      loop_.private_scalars.push_back(name);
      return true;
    }
    return serial(carries(name)), false;
  }

  static std::string carries(const std::string& name) {
    return name + " carries a value from one iteration to the next";
  }

  static bool is_extremum(const std::vector<Extremum>& extrema, std::string_view name) {
    return std::ranges::any_of(extrema, [&](const Extremum& e) {
      return std::ranges::any_of(e.variables, [&](const Declarator* d) { return d->name == name; });
    });
  }

  [[nodiscard]] bool prefix_used(const Declarator& d, const std::vector<Reduction>& updates) const {
    for (const Read& read : state_.reads) {
      if (read.variable != &d || !inside_.contains(read.name->span)) continue;
      const bool own = std::any_of(updates.begin(), updates.end(), [&](const Reduction& r) {
        return r.stmt->kind == StmtKind::if_ ? r.stmt->span.contains(read.name->span)
                                             : update_span(r).contains(read.name->span);
      });
      if (!own) return true;
    }
    return false;
  }

  /// What is combined, or whether it is, depends on the running value.
  [[nodiscard]] bool feeds_itself(const Declarator& d,
                                  const std::vector<Reduction>& updates) const {
    std::set<const Declarator*> tainted{&d};
    const auto depends = [&](const Expr& e) {
      bool found = false;
      walk(e, [&](const Expr& inner) {
        if (inner.kind == ExprKind::name) {
          const auto declared = state_.declared.find(&inner);
          found =
              found || (declared != state_.declared.end() && tainted.contains(declared->second));
        }
        return !found;
      });
      return found;
    };
    const auto taint = [&](const Declarator* variable) {
      return variable != nullptr && tainted.insert(variable).second;
    };
    const auto controlled = [&](const Stmt* stmt) {
      for (const Stmt* s = stmt != nullptr ? stmt->parent : nullptr;
           s != nullptr && s != loop_.stmt; s = s->parent) {
        if (s->expr != nullptr &&
            (s->kind == StmtKind::if_ || s->is_loop() || s->kind == StmtKind::switch_) &&
            depends(*s->expr))
          return true;
      }
      return false;
    };
    for (bool changed = true; changed;) {
      changed = false;
      walk(*loop_.stmt, [&](const Stmt& s) {
        for (const Declarator* local : s.declarators) {
          for (const Expr* e : local->init) changed = (depends(*e) && taint(local)) || changed;
        }
        return true;
      });
      for (const Write* write : writes_) {
        if (write->variable == &d || write->node == nullptr) continue;
        const bool from = (write->node->kind == ExprKind::assign && depends(write->node->arg(1))) ||
                          controlled(write->stmt);
        changed = (from && taint(write->variable)) || changed;
      }
      for (const Access& access : facts_.accesses) {
        if (!access.writes() || !inside_.contains(access.expr->span) ||
            access.expr->parent == nullptr || only_read_before(access.array))
          continue;
        const bool from = depends(*access.expr->parent) || controlled(access.stmt);
        changed =
            (from && taint(facts_.arrays[static_cast<std::size_t>(access.array)].declarator)) ||
            changed;
      }
    }
    for (const Reduction& r : updates) {
      for (const Expr* e : {r.value, r.factor_a, r.factor_b}) {
        if (e != nullptr && depends(*e)) return true;
      }
      if (controlled(r.stmt)) return true;
    }
    return false;
  }

  /// An iteration reads elements of the array before it writes any: as iterations are independent
  /// in memory, what is read was there before the loop.
  [[nodiscard]] bool only_read_before(int array) const {
    std::size_t last_read = 0, first_write = std::string_view::npos;
    for (const Access* a : facts_.accesses_to(array)) {
      if (!inside_.contains(a->expr->span)) continue;
      if (a->loops.empty() || a->loops.back() != &loop_ || a->kind == AccessKind::read_write ||
          a->kind == AccessKind::atomic)
        return false;
      if (a->writes())
        first_write = std::min(first_write, a->expr->span.begin);
      else
        last_read = std::max(last_read, a->expr->span.end);
    }
    return last_read < first_write;
  }

  static Span update_span(const Reduction& r) {
    return r.target->parent != nullptr ? r.target->parent->span : r.target->span;
  }

  /// Written first thing in every iteration, by a plain assignment on the top level of the body.
  [[nodiscard]] bool is_private(const Declarator& d,
                                const Stmt& loop,
                                const std::vector<const Write*>& writes) const {
    const Write* first = nullptr;
    for (const Write* write : writes) {
      if (write->variable == &d &&
          (first == nullptr || write->name->span.begin < first->name->span.begin))
        first = write;
    }
    if (first == nullptr || first->node == nullptr || first->partial || first->escapes)
      return false;
    if (!first->node->is_op(ExprKind::assign, "=") || mentions(first->node->arg(1), d.name))
      return false;
    const Stmt* at = first->stmt;
    const bool in_init = at != nullptr && at->parent != nullptr &&
                         at->parent->kind == StmtKind::for_ && at->parent->init == at;
    if (in_init) at = at->parent;
    if (at == nullptr || !(at->parent == loop.body || at == loop.body)) return false;
    if (!in_init && at->kind != StmtKind::expression) return false;
    for (const Read& read : state_.reads) {
      if (read.variable == &d && loop.span.contains(read.name->span) &&
          read.name->span.begin < first->name->span.begin)
        return false;
    }
    return true;
  }

  /// Its value is read outside the loop, where no other loop has it to itself.
  [[nodiscard]] bool read_elsewhere(const Declarator& d) const {
    for (const Read& read : state_.reads) {
      if (read.variable != &d || inside_.contains(read.name->span)) continue;
      bool harmless = false;
      const Stmt* around = read.name->stmt;
      for (; around != nullptr && !harmless; around = around->parent) {
        if (!around->is_loop() || around->span.contains(loop_.stmt->span)) continue;
        const bool counter =
            std::any_of(facts_.loops.begin(), facts_.loops.end(), [&](const auto& l) {
              return l->stmt == around && l->declarator == &d && l->first_expr != nullptr;
            });
        harmless = counter || is_private(d, *around, writes_in(facts_, around->span));
      }
      if (!harmless) return true;
    }
    return false;
  }

  bool memory() {
    std::vector<const Access*> inside;
    for (const Access& access : facts_.accesses) {
      if (inside_.contains(access.expr->span)) inside.push_back(&access);
    }
    for (const Access* a : inside) {
      if (!a->writes() || is_own(facts_.arrays[static_cast<std::size_t>(a->array)], loop_))
        continue;
      if (is_accumulated(*a, inside)) continue;
      for (const Access* b : inside) {
        if (a->array != b->array && !facts_.may_alias(a->array, b->array)) continue;
        if (a->kind == AccessKind::atomic && b->kind == AccessKind::atomic && a->array == b->array)
          continue;
        std::string why;
        if (!stay_apart(facts_, loop_, *a, *b, why)) return serial(why), false;
      }
    }
    return true;
  }

  /// y[row] += e with the same element in every iteration, and no other use of the array but such.
  bool is_accumulated(const Access& a, const std::vector<const Access*>& inside) {
    auto update = reduction_of(facts_, a);
    if (!update || a.index.mentions(loop_.variable)) return false;
    for (const std::string& name : loop_.assigned) {
      if (a.index.mentions(name) && name != loop_.variable) return false;
    }
    bool prefix = false;
    for (const Access* b : inside) {
      if (b == &a || (a.array != b->array && !facts_.may_alias(a.array, b->array))) continue;
      if (a.array != b->array || !(facts_.resolved(b->index) == facts_.resolved(a.index)))
        return false;
      const auto other = reduction_of(facts_, *b);
      const bool same_update =
          update_span(*update).contains(b->expr->span) ||
          (update->stmt->kind == StmtKind::if_ && update->stmt->span.contains(b->expr->span));
      if (other && other->op == update->op) continue;
      if (b->writes()) return false;
      if (!same_update) prefix = true;
    }
    update->prefix_used = prefix;
    loop_.reductions.push_back(*update);
    return true;
  }

  KernelFacts& facts_;
  KernelFacts::State& state_;
  Loop& loop_;
  Span inside_;
  std::vector<const Write*> writes_;
  std::string calls_;
};

}  // namespace

void classify_loops(KernelFacts& facts) {
  for (auto l = facts.loops.rbegin(); l != facts.loops.rend(); ++l) Classifier(facts, **l).run();
}

bool KernelFacts::independent_over(const Loop& loop, std::string& why) const {
  const std::vector<const Access*> inside = accesses_in(*loop.stmt);
  for (const Access* a : inside) {
    if (!a->writes() || is_own(arrays[static_cast<std::size_t>(a->array)], loop)) continue;
    for (const Access* b : inside) {
      if (a->array != b->array && !may_alias(a->array, b->array)) continue;
      if (a->kind == AccessKind::atomic && b->kind == AccessKind::atomic && a->array == b->array)
        continue;
      if (!stay_apart(*this, loop, *a, *b, why)) return false;
    }
  }
  return true;
}

}  // namespace warpath::model
