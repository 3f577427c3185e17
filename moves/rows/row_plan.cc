#include "moves/rows/row_plan.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "engine/base/error.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/model/reduce_op.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {
namespace {

using model::Access;
using model::Expr;
using model::ExprKind;
using model::KernelFacts;
using model::Loop;
using model::LoopClass;
using model::Polynomial;
using model::Reduction;
using model::Space;
using model::Stmt;
using model::StmtKind;
using model::Unit;

constexpr std::array<std::string_view, 4> kBuiltins{"threadIdx", "blockIdx", "blockDim", "gridDim"};

class Planner {
 public:
  Planner(const MoveContext& context, const model::KernelModel& model, const ScanShape* scan)
      : context_(context),
        model_(model),
        unit_(model.unit),
        facts_(model.facts),
        body_(*model.kernel->body),
        scan_(scan) {}

  std::optional<RowPlan> made(std::string& why) {
    return plan(why) ? std::optional(std::move(plan_)) : std::nullopt;
  }

 private:
  bool plan(std::string& why) {
    if (!facts_.veto.empty()) return why = facts_.veto, false;
    if (facts_.has_barrier || facts_.has_warp_ops || facts_.has_assembly) {
      return why = "threads of the kernel already work together", false;
    }
    if (facts_.has_unknown_calls)
      return why = "the kernel calls " + facts_.unknown_calls.front() + ", which may write memory",
             false;
    if (has_own_plans(context_.spec))
      return why = "workloads have launch plans of their own", false;
    for (const model::Array& a : facts_.arrays) {
      if (a.escapes) return why = "the address of " + a.name + " leaves the kernel", false;
    }
    if (!find_index(why) || !visit(body_, why)) return false;
    const bool scans = std::any_of(plan_.splits.begin(), plan_.splits.end(),
                                   [](const Loop* l) { return l->kind == LoopClass::scan; });
    if (plan_.splits.empty() || (scan_ != nullptr && !scans))
      return why = first_refusal_.empty() ? "no loop over an item that threads could share"
                                          : first_refusal_,
             false;
    for (const Loop* split : plan_.splits) {
      if (!keeps_locals_apart(*split, why)) return false;
    }
    return find_conflicts(why);
  }

  // --- who does which item
  // -------------------------------------------------------------------------------------------

  bool find_index(std::string& why) {
    for (std::size_t axis = 1; axis < 3; ++axis) {
      if (context_.variant.launch.block[axis] != Expression(1))
        return why = "the block has more than one axis", false;
    }
    for (const model::ThreadIndex& t : facts_.thread_indices) {
      if (t.axis == 0 && t.form == model::ThreadIndex::Form::global) plan_.index = &t;
    }
    if (plan_.index == nullptr)
      return why = "no item a thread: i = blockIdx.x * blockDim.x + threadIdx.x", false;
    plan_.factor = plan_.index->value.coefficient_of("blockIdx.x");
    const Polynomial plain =
        plan_.factor * Polynomial::name("blockIdx.x") + Polynomial::name("threadIdx.x");
    if (!(plan_.index->value == plain))
      return why = "the thread's index is more than blockIdx.x * blockDim.x + threadIdx.x", false;
    if (!same_as_block(plan_.factor))
      return why = "the index counts blocks of another size than the launch plan's", false;
    const Polynomial stride = plan_.factor * Polynomial::name("gridDim.x");
    bool covered = true;
    model::walk_expressions(body_, [&](const Expr& e) {
      if (!mentions_builtin(e)) return false;
      if (e.kind == ExprKind::name || e.kind == ExprKind::member)
        return covered = covered && !is_builtin_x(e), false;
      const Polynomial value = facts_.polynomial(e);
      if (e.kind == ExprKind::assign || e.kind == ExprKind::comma) return true;
      if (value == plain) return plan_.indices.push_back(&e), false;
      if (value == stride) return plan_.strides.push_back(&e), false;
      return true;
    });
    if (!covered || plan_.indices.empty())
      return why = "threads are told apart in another way than by one index", false;
    return true;
  }

  [[nodiscard]] bool same_as_block(const Polynomial& factor) const {
    if (factor.as_name() == "blockDim.x") return true;
    Bindings values(context_.variant.tunables.begin(), context_.variant.tunables.end());
    const auto extent = facts_.resolved(factor).constant();
    try {
      return extent && *extent == context_.variant.launch.block[0].evaluate(values, "block");
    } catch (const Error&) {
      return false;
    }
  }

  static bool mentions_builtin(const Expr& e) {
    return std::any_of(kBuiltins.begin(), kBuiltins.end(),
                       [&](std::string_view b) { return model::mentions(e, b); });
  }

  static bool is_builtin_x(const Expr& e) { return e.kind != ExprKind::member || e.name == "x"; }

  // --- which loops are shared
  // ----------------------------------------------------------------------------------------

  bool visit(const Stmt& stmt, std::string& why) {
    switch (stmt.kind) {
      case StmtKind::block:
        return std::all_of(stmt.children.begin(), stmt.children.end(),
                           [&](const Stmt* s) { return visit(*s, why); });
      case StmtKind::if_:
        return visit(*stmt.body, why) && (stmt.otherwise == nullptr || visit(*stmt.otherwise, why));
      case StmtKind::for_:
      case StmtKind::while_:
      case StmtKind::do_: {
        const Loop* loop = facts_.loop_of(stmt);
        // chosen from a loop further out
        if (std::find(plan_.splits.begin(), plan_.splits.end(), loop) != plan_.splits.end())
          return true;
        if (loop != nullptr) {
          if (const Loop* best = best_split(*loop))
            return add_split(*best), best == loop || visit_rest(stmt, *best, why);
        }
        return stmt.body == nullptr || visit(*stmt.body, why);
      }
      case StmtKind::declaration:
      case StmtKind::expression:
        return note_writes(stmt, why);
      case StmtKind::switch_:
        return visit(*stmt.body, why);
      case StmtKind::return_:
      case StmtKind::break_:
      case StmtKind::continue_:
      case StmtKind::case_:
      case StmtKind::empty:
      case StmtKind::directive:
        return true;
      default:
        return why = "a statement of the kernel is not understood", false;
    }
  }

  /// The loop around `split` runs in every lane; what else stands in it is visited as usual.
  bool visit_rest(const Stmt& outer, const Loop& split, std::string& why) {
    if (outer.body == nullptr || &outer == split.stmt) return true;
    for (const Stmt* s : model::statements(*outer.body)) {
      if (s == split.stmt) continue;
      if (model::is_inside(*split.stmt, *s) && s->is_loop()) {
        if (!visit_rest(*s, split, why)) return false;
      } else if (!visit(*s, why)) {
        return false;
      }
    }
    return true;
  }

  /// Of a nest of loops that could be shared the one whose variable runs along memory; null if none
  /// can be.
  const Loop* best_split(const Loop& loop) {
    if (!can_share(loop)) return nullptr;
    const Loop* best = &loop;
    int most = contiguous_accesses(loop);
    const std::function<void(const Loop&)> look = [&](const Loop& outer) {
      for (const Loop* child : outer.children) {
        const int count = contiguous_accesses(*child);
        if (outer.children.size() == 1 && count > most && can_share(*child))
          best = child, most = count;
        if (outer.children.size() == 1) look(*child);
      }
    };
    look(loop);
    return best;
  }

  [[nodiscard]] int contiguous_accesses(const Loop& loop) const {
    int count = 0;
    for (const Access* a : facts_.accesses_in(*loop.stmt)) {
      if (facts_.arrays[static_cast<std::size_t>(a->array)].space == Space::local) continue;
      const std::string atom = loop_atom(a->index, loop);
      if (!a->index.affine_in(atom)) continue;
      const auto step = a->index.coefficient_of(atom).constant();
      if (step && (*step == 1 || *step == -1)) ++count;
    }
    return count;
  }

  bool can_share(const Loop& loop) {
    const std::string why = refusal(loop);
    if (!why.empty() && first_refusal_.empty()) {
      first_refusal_ =
          "line " + std::to_string(model::line_of(unit_, loop.stmt->span.begin)) + ": " + why;
    }
    return why.empty();
  }

  [[nodiscard]] std::string refusal(const Loop& loop) const {
    if (loop.kind == LoopClass::scan) {
      if (scan_ == nullptr) return "a running value is stored: scan_parallelise";
      const bool inside =
          std::any_of(plan_.indices.begin(), plan_.indices.end(),
                      [&](const Expr* e) { return loop.stmt->span.contains(e->span); });
      return inside ? "the thread's index is written out inside the scan"
                    : scan_refusal(model_, loop);
    }
    if (loop.kind == LoopClass::serial && loop.extrema.empty())
      return loop.reason.empty() ? "the loop's iterations depend on each other" : loop.reason;
    if (!loop.counted || !loop.stmt->is(StmtKind::for_) || loop.first_expr == nullptr ||
        loop.stmt->step == nullptr) {
      return "the loop does not count in its header";
    }
    if (loop.exits_early || loop.has_barrier) return "the loop may end early";
    if (!loop.step.constant()) return "the loop's step is no constant";
    for (const auto* all : {&plan_.indices, &plan_.strides}) {
      for (const Expr* e : *all) {
        if (loop.stmt->step->outer.contains(e->span) || loop.first_expr->outer.contains(e->span))
          return "the thread's index stands in the loop's head";
      }
    }
    if (loop.trip_count && *loop.trip_count < 4) return "the loop is short";
    std::set<std::string> changed(loop.assigned.begin(), loop.assigned.end());
    changed.erase(loop.variable);
    for (const Reduction& r : loop.reductions) {
      if (r.access >= 0)
        return "the result is accumulated in memory, in " + r.accumulator + ": promote_scalars";
      if (r.prefix_used) return "a running value is used";
      if (model::size_of_type(r.type) < 4 || model::identity_text(r.op, r.type).empty())
        return "the accumulator is of type " + r.type;
      changed.erase(r.accumulator);
    }
    for (const model::Extremum& e : loop.extrema) {
      for (const model::Declarator* d : e.variables) changed.erase(std::string(d->name));
    }
    for (const std::string& name : loop.private_scalars) {
      if (read_behind(name, loop)) return name + " of the last iteration is used behind the loop";
      changed.erase(name);
    }
    if (!changed.empty()) return *changed.begin() + " is carried from one iteration to the next";
    if (!loop.declared_inside && read_behind(loop.variable, loop))
      return loop.variable + " is used behind the loop";
    return {};
  }

  /// `name` is used outside the loop other than where another loop sets it anew.
  [[nodiscard]] bool read_behind(const std::string& name, const Loop& loop) const {
    bool used = false;
    model::walk_expressions(body_, [&](const Expr& e) {
      if (!e.is_name(name) || loop.stmt->span.contains(e.span) ||
          e.span.begin < loop.stmt->span.begin)
        return true;
      for (const auto& other : facts_.loops) {
        if (!other->stmt->span.contains(e.span)) continue;
        const auto& p = other->private_scalars;
        if ((other->variable == name && other->first_expr != nullptr) ||
            std::find(p.begin(), p.end(), name) != p.end())
          return true;
      }
      used = true;
      return true;
    });
    return used;
  }

  void add_split(const Loop& loop) {
    plan_.splits.push_back(&loop);
    if (loop.kind == LoopClass::scan) return;  // every lane ends with the accumulator's last value
    for (const Reduction& r : loop.reductions) {
      const Loop* top = &loop;
      while (top->parent != nullptr && accumulates(*top->parent, r)) top = top->parent;
      RowCombine& c = combine_behind(*top->stmt);
      const bool known =
          std::any_of(c.reductions.begin(), c.reductions.end(),
                      [&](const Reduction* x) { return x->accumulator == r.accumulator; });
      if (!known) c.reductions.push_back(&r);
    }
    for (const model::Extremum& e : loop.extrema) combine_behind(*loop.stmt).extrema.push_back(&e);
  }

  RowCombine& combine_behind(const Stmt& stmt) {
    const auto c = std::ranges::find(plan_.combines, &stmt, &RowCombine::stmt);
    return c != plan_.combines.end() ? *c : plan_.combines.emplace_back(RowCombine{&stmt, {}, {}});
  }

  static bool accumulates(const Loop& loop, const Reduction& wanted) {
    return std::any_of(loop.reductions.begin(), loop.reductions.end(), [&](const Reduction& r) {
      return r.declarator == wanted.declarator && r.op == wanted.op && !r.prefix_used;
    });
  }

  // --- what one lane does, and who must wait
  // --------------------------------------------------------------------------

  bool note_writes(const Stmt& stmt, std::string& why) {
    bool writes = false;
    for (const Access* a : facts_.accesses_in(stmt)) {
      writes |=
          a->writes() && facts_.arrays[static_cast<std::size_t>(a->array)].space != Space::local;
    }
    if (!writes) return true;
    if (stmt.is(StmtKind::declaration)) return why = "a declaration writes memory", false;
    if (changes_locals(stmt))
      return why = "a statement writes memory and a variable at once", false;
    plan_.single.push_back(&stmt);
    return true;
  }

  [[nodiscard]] bool changes_locals(const Stmt& stmt) const {
    for (const std::string& name : facts_.names_written(stmt)) {
      const model::Array* array = facts_.array(name);
      if (array == nullptr || array->space == Space::local) return true;
    }
    return false;
  }

  [[nodiscard]] const Loop* split_around(const Access& a) const {
    for (const Loop* l : plan_.splits) {
      if (std::find(a.loops.begin(), a.loops.end(), l) != a.loops.end()) return l;
    }
    return nullptr;
  }

  /// Which lane touches the element: equal texts, same lane. Empty outside the shared loops.
  [[nodiscard]] std::string owner(const Access& a) const {
    const Loop* split = split_around(a);
    if (split == nullptr) return {};
    const std::string atom = loop_atom(a.index, *split);
    if (!a.index.affine_in(atom)) return {};
    return sweep_key(*split) + " " + a.index.substituted(atom, Polynomial::name("@")).key();
  }

  static std::string sweep_key(const Loop& l) {
    return (l.kind == LoopClass::scan ? "scan " : "") + l.first.key() + ":" + l.step.key();
  }

  [[nodiscard]] bool is_single(const Access& a) const {
    return std::any_of(plan_.single.begin(), plan_.single.end(),
                       [&](const Stmt* s) { return s->span.contains(a.expr->span); });
  }

  /// A local array that is written in a shared loop holds in each lane only that lane's elements.
  bool keeps_locals_apart(const Loop& split, std::string& why) const {
    for (const Access* w : facts_.accesses_in(*split.stmt)) {
      if (!w->writes() || facts_.arrays[static_cast<std::size_t>(w->array)].space != Space::local)
        continue;
      if (facts_.arrays[static_cast<std::size_t>(w->array)].declarator != nullptr &&
          split.stmt->span.contains(
              facts_.arrays[static_cast<std::size_t>(w->array)].declarator->span)) {
        continue;  // declared in the iteration
      }
      for (const Access* other : facts_.accesses_to(w->array)) {
        if (other->writes() && split_around(*other) == nullptr &&
            other->expr->span.end < split.stmt->span.begin)
          continue;
        if (owner(*other).empty() || owner(*other) != owner(*w)) {
          return why = "elements of " + facts_.arrays[static_cast<std::size_t>(w->array)].name +
                       " would be needed by other lanes",
                 false;
        }
      }
    }
    return true;
  }

  /// Where another lane reads or overwrites what a lane wrote, the lanes must wait for each other.
  bool find_conflicts(std::string& why) {
    for (const Access& w : facts_.accesses) {
      if (!w.writes() || facts_.arrays[static_cast<std::size_t>(w.array)].space == Space::local)
        continue;
      for (const Access& other : facts_.accesses) {
        if (&other == &w || !(other.array == w.array || facts_.may_alias(other.array, w.array)))
          continue;
        if (other.kind == model::AccessKind::atomic && w.kind == model::AccessKind::atomic)
          continue;
        if (same_lane(w, other)) continue;
        if (!wait_between(w, other, why)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool same_lane(const Access& a, const Access& b) const {
    const Loop* in = split_around(a);
    // no dependence between its iterations
    if (in != nullptr && in == split_around(b)) return true;
    if (in == nullptr && split_around(b) == nullptr) return is_single(a) && is_single(b);
    return a.array == b.array && !owner(a).empty() && owner(a) == owner(b);
  }

  bool wait_between(const Access& a, const Access& b, std::string& why) {
    const Access& first = a.expr->span.begin < b.expr->span.begin ? a : b;
    const Access& second = &first == &a ? b : a;
    for (const Loop* l : first.loops) {
      if (std::find(second.loops.begin(), second.loops.end(), l) != second.loops.end()) {
        return why = "lanes would exchange " +
                     facts_.arrays[static_cast<std::size_t>(a.array)].name + " inside a loop",
               false;
      }
    }
    const Stmt* place = second.stmt;
    while (place->parent != nullptr &&
           !(place->parent->is(StmtKind::block) && model::is_inside(*first.stmt, *place->parent))) {
      place = place->parent;
    }
    if (place->parent == nullptr || model::is_inside(*first.stmt, *place)) {
      return why = "lanes would exchange " + facts_.arrays[static_cast<std::size_t>(a.array)].name +
                   " within a statement",
             false;
    }
    if (std::find(plan_.barriers.begin(), plan_.barriers.end(), place) == plan_.barriers.end())
      plan_.barriers.push_back(place);
    return true;
  }

  const MoveContext& context_;
  const model::KernelModel& model_;
  const Unit& unit_;
  const KernelFacts& facts_;
  const Stmt& body_;
  const ScanShape* scan_;  ///< null: no scan loops
  RowPlan plan_;
  std::string first_refusal_;
};

}  // namespace

std::optional<RowPlan> plan_rows(const MoveContext& context,
                                 const model::KernelModel& model,
                                 const ScanShape* scan,
                                 std::string& why) {
  return Planner(context, model, scan).made(why);
}

}  // namespace warpath
