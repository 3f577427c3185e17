#include "moves/blocks/spare_barriers.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/rows/lanes.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {
namespace {

using model::Access;
using model::Expr;
using model::ExprKind;
using model::KernelModel;
using model::Polynomial;
using model::Stmt;
using model::StmtKind;
using Left = SpareBarrier::Left;

/// One mention of memory that several threads may see.
struct Touch {
  const Access* access = nullptr;               ///< null: a shared variable that is no array
  const model::Declarator* variable = nullptr;  ///< that variable
  const Stmt* stmt = nullptr;
  bool writes = false;
};
using Touches = std::set<std::size_t>;  // numbers of touches, in the order of the text

bool is_barrier(const Stmt& s) {
  return s.is(StmtKind::expression) && s.expr != nullptr && s.expr->args.size() == 1 &&
         model::callee(*s.expr) == "__syncthreads";
}

/// Elements c[0] + c[1] * threadIdx.x + c[2] * threadIdx.y + c[3] * threadIdx.z.
using OfThread = std::array<std::int64_t, 4>;

/// Which barriers of a kernel order nothing. A barrier orders what threads do since the last one
/// with what they do up to the next one, and nothing else. Those that go count as none on the way,
/// so that a loop's iterations meet each other without them.
class BarrierNeeds {
 public:
  BarrierNeeds(const MoveContext& context, const KernelModel& model)
      : context_(context), model_(model), facts_(model.facts) {}

  /// False with one line in `why` if not all that threads share is seen.
  bool read(std::string& why) {
    if (!facts_.has_barrier) return why = "the kernel has no barrier", false;
    if (!(why = facts_.veto).empty()) return false;
    if (facts_.has_assembly) return why = "inline assembly joins the threads", false;
    const auto block = block_extents(context_.variant);
    const bool fixed = std::ranges::all_of(context_.variant.launch.block, &Expression::is_constant);
    if (!block || !fixed) return why = "the block's size is no constant", false;
    if (has_own_plans(context_.spec))
      return why = "workloads have launch plans of their own", false;
    block_ = *block;
    for (const Access& a : facts_.accesses) {
      const model::Space space = array_of(a).space;
      if (space == model::Space::local || space == model::Space::constant) continue;
      add({.access = &a, .stmt = a.stmt, .writes = a.writes()});
    }
    read_mentions(why);
    read_names();
    std::size_t placed = 0;
    model::walk(*model_.kernel->body, [&](const Stmt& s) {
      if (is_barrier(s)) barriers_.push_back(&s);
      placed += own(s).size();
      if (s.is(StmtKind::goto_) || s.is(StmtKind::label) || s.is(StmtKind::switch_) ||
          s.is(StmtKind::range_for) || s.is(StmtKind::try_) || s.is(StmtKind::macro))
        why = "the order of the statements is not followed";
      return true;
    });
    if (why.empty() && placed != touches_.size()) why = "not every access has its place";
    return why.empty();
  }

  [[nodiscard]] const std::vector<const Stmt*>& barriers() const { return barriers_; }

  /// The weakest that may stand in its place while the others stay; with one line in `why` if it
  /// must stay itself.
  [[nodiscard]] Left left(const Stmt& barrier, std::string& why) {
    for (const Stmt* s = barrier.parent; s != nullptr; s = s->parent) {
      if (s->is_loop() && jumps(*s->body))
        return why = "a loop around the barrier may be left from its middle", Left::barrier;
    }
    removed_.insert(&barrier);
    const Touches before = around(barrier, false), after = around(barrier, true);
    removed_.erase(&barrier);
    Left out = Left::nothing;
    for (const std::size_t first : before) {
      for (const std::size_t second : after) {
        const Touch &a = touches_[first], &b = touches_[second];
        out = std::min(out, needed(a, b));
        if (out != Left::barrier) continue;
        why = "threads may meet at " + name_of(a) + " of line " + line_of(a) + " and " +
              name_of(b) + " of line " + line_of(b);
        return out;
      }
    }
    // A warp's barrier waits for all of its lanes.
    if (out == Left::warp_barrier && threads() % kWarpLanes != 0)
      return why = "a warp is not whole", Left::barrier;
    return out;
  }

  /// False where a constant leaves it out: so does the compiler.
  [[nodiscard]] bool is_reached(const Stmt& barrier) {
    return !threads_at({.stmt = &barrier}).empty();
  }

  /// From here on the barrier is none.
  void remove(const Stmt& barrier) { removed_.insert(&barrier); }

 private:
  // --- what is shared

  [[nodiscard]] const model::Array& array_of(const Access& a) const {
    return facts_.arrays[static_cast<std::size_t>(a.array)];
  }

  void add(const Touch& touch) {
    at_[touch.stmt].insert(touches_.size());
    touches_.push_back(touch);
  }

  /// Mentions of memory that no access covers. Those of shared variables are touches of their own;
  /// pointers may be set and compared, but nothing else may follow them.
  void read_mentions(std::string& why) {
    std::set<const Expr*> followed;
    for (const Access& a : facts_.accesses) followed.insert(a.expr);
    model::walk_expressions(*model_.kernel->body, [&](const Expr& e) {
      const std::string_view called = e.is(ExprKind::call) ? model::callee(e) : std::string_view();
      // What blocks say to each other is ordered by barriers, too.
      if (called.starts_with("__threadfence")) why = "blocks work together";
      if (called.starts_with("__pipeline")) why = "copies run beside the threads";
      if (!e.is(ExprKind::name)) return true;
      const model::Declarator* const d = model::declaration_of(model_.unit, e);
      if (d == nullptr) return true;
      const bool shared = d->has(model::kShared);
      if (shared && !d->is_array()) return read_variable(e, *d, why), true;
      if (!(shared || d->is_pointer() || (d->is_array() && d->is_parameter))) return true;
      for (const Expr* up = &e; up != nullptr && !followed.contains(up); up = up->parent) {
        if (up->is(ExprKind::call) || up->is_op(ExprKind::member, "->") || up->is(ExprKind::lambda))
          return why = std::string(d->name) + " is used in a way that is not followed", true;
      }
      return true;
    });
    for (const model::Macro& macro : model_.unit.macros()) {
      if (macro.body.find("__syncthreads") != std::string::npos) why = "a macro holds a barrier";
    }
  }

  /// A shared variable that is no array: a name of its own for all threads.
  void read_variable(const Expr& e, const model::Declarator& d, std::string& why) {
    const Expr* const up = e.parent;
    const bool declares = up == nullptr && e.stmt != nullptr &&
                          std::ranges::any_of(e.stmt->declarators, &model::Declarator::reference);
    const bool address = up != nullptr && up->is_op(ExprKind::unary, "&") &&
                         !(up->parent != nullptr && up->parent->is(ExprKind::call) &&
                           model::callee(*up->parent).starts_with("atomic"));
    if (d.is_pointer() || d.reference || declares || address)
      why = std::string(d.name) + " is used in a way that is not followed";
    const bool reads = up == nullptr || up->is(ExprKind::binary) || up->is(ExprKind::conditional) ||
                       (up->is(ExprKind::assign) && &up->arg(0) != &e);
    add({.variable = &d, .stmt = e.stmt, .writes = !reads});
  }

  /// Parameters that the kernel does not change, nor hide.
  void read_names() {
    for (const model::Declarator* p : model_.kernel->parameters) fixed_.emplace(p->name);
    for (const std::string& name : facts_.names_written(*model_.kernel->body)) fixed_.erase(name);
    model::walk(*model_.kernel->body, [&](const Stmt& s) {
      for (const model::Declarator* d : s.declarators) fixed_.erase(std::string(d->name));
      return true;
    });
  }

  // --- the way to the next barrier, and from the last one

  /// Touches within a statement that a barrier does not keep from its beginning (`ahead`) or its
  /// end, and whether one can pass it without a barrier.
  struct Open {
    Touches touches;
    bool passes = true;
  };

  [[nodiscard]] Touches own(const Stmt& s) const {
    const auto found = at_.find(&s);
    return found == at_.end() ? Touches() : found->second;
  }

  [[nodiscard]] Touches all(const Stmt& s) const {
    Touches out;
    model::walk(s, [&](const Stmt& part) {
      out.merge(own(part));
      return true;
    });
    return out;
  }

  static bool jumps(const Stmt& s) {
    bool found = false;
    model::walk(s, [&](const Stmt& part) {
      found = found || part.is(StmtKind::break_) || part.is(StmtKind::continue_) ||
              part.is(StmtKind::return_);
      return !found;
    });
    return found;
  }

  [[nodiscard]] Open open(const Stmt& s, bool ahead) const {
    if (removed_.contains(&s)) return {};
    if (is_barrier(s)) return {.touches = {}, .passes = false};
    if (s.is(StmtKind::block)) {
      Open out;
      for (std::size_t k = 0; k < s.children.size() && out.passes; ++k)
        append(out, *s.children[ahead ? k : s.children.size() - 1 - k], ahead);
      return out;
    }
    Open out{own(s), true};
    if (s.init != nullptr) out.touches.merge(all(*s.init));
    if (s.is(StmtKind::if_)) {
      Open yes = open(*s.body, ahead);
      Open no = s.otherwise != nullptr ? open(*s.otherwise, ahead) : Open();
      out.touches.merge(yes.touches), out.touches.merge(no.touches);
      out.passes = yes.passes || no.passes;
    } else if (s.body != nullptr) {
      // Behind a jump a loop's end may be anywhere in it.
      out.touches.merge(jumps(*s.body) ? all(*s.body) : open(*s.body, ahead).touches);
    }
    return out;
  }

  void append(Open& out, const Stmt& s, bool ahead) const {
    Open one = open(s, ahead);
    out.touches.merge(one.touches);
    out.passes = out.passes && one.passes;
  }

  /// What no other barrier keeps from this one.
  [[nodiscard]] Touches around(const Stmt& barrier, bool ahead) const {
    Open out;
    for (const Stmt* s = &barrier; s->parent != nullptr && out.passes; s = s->parent) {
      const Stmt& up = *s->parent;
      if (up.is(StmtKind::block)) {
        const auto& list = up.children;
        const auto at =
            static_cast<std::size_t>(std::find(list.begin(), list.end(), s) - list.begin());
        for (std::size_t k = 1; out.passes && (ahead ? at + k < list.size() : k <= at); ++k)
          append(out, *list[ahead ? at + k : at - k], ahead);
      } else if (up.is_loop()) {
        Open again = open(up, ahead);
        out.touches.merge(again.touches);
      } else {
        out.touches.merge(own(up));
      }
    }
    return std::move(out.touches);
  }

  // --- which threads meet

  [[nodiscard]] int threads() const { return static_cast<int>(block_[0] * block_[1] * block_[2]); }

  [[nodiscard]] OfThread index_of(int thread) const {
    return {1, thread % block_[0], thread / block_[0] % block_[1], thread / block_[0] / block_[1]};
  }

  /// Threads that the guard keeps out, as far as their number alone decides it.
  const std::vector<bool>& kept_out(const model::Guard& guard) {
    const auto [found, fresh] = kept_out_.try_emplace(&guard);
    if (!fresh) return found->second;
    found->second.resize(static_cast<std::size_t>(threads()));
    for (const Polynomial& p : guard.nonnegative) {
      const Polynomial value = facts_.resolved(p);
      const std::set<std::string> names = value.names();
      if (!value.is_known() || std::ranges::any_of(names, [](const std::string& name) {
            return !name.starts_with("threadIdx.");
          }))
        continue;
      for (int k = 0; k < threads(); ++k) {
        const OfThread at = index_of(k);
        const auto number = value.evaluate(
            {{"threadIdx.x", at[1]}, {"threadIdx.y", at[2]}, {"threadIdx.z", at[3]}});
        if (number && *number < 0) found->second[static_cast<std::size_t>(k)] = true;
      }
    }
    return found->second;
  }

  /// Threads for which no guard excludes the touch.
  [[nodiscard]] std::vector<int> threads_at(const Touch& t) {
    const std::vector<const model::Guard*> guards =
        t.access != nullptr ? t.access->guards : facts_.guards_at(*t.stmt);
    std::vector<int> out;
    for (int k = 0; k < threads(); ++k) {
      if (std::ranges::none_of(guards, [&](const model::Guard* g) {
            return kept_out(*g)[static_cast<std::size_t>(k)];
          }))
        out.push_back(k);
    }
    return out;
  }

  [[nodiscard]] Left needed(const Touch& a, const Touch& b) {
    if ((a.access == nullptr) != (b.access == nullptr)) return Left::nothing;
    if (a.access == nullptr) {
      const bool meet = a.variable == b.variable && (a.writes || b.writes);
      return meet ? apart(a, b, {}, {}, 0) : Left::nothing;
    }
    const Access &x = *a.access, &y = *b.access;
    // An atomic operation may tell another block what was done before, or what it may do now.
    const bool atomic = x.kind == model::AccessKind::atomic || y.kind == model::AccessKind::atomic;
    const auto outside = [&](const Access& one) {
      const model::Array& array = array_of(one);
      return array.space == model::Space::global && (array.written || array.atomic);
    };
    if (atomic && outside(x) && outside(y)) return Left::barrier;
    if (!a.writes && !b.writes) return Left::nothing;
    if (x.array != y.array) {
      // all dynamic arrays begin at one place
      const bool same = array_of(x).dynamic_shared && array_of(y).dynamic_shared;
      return same || facts_.may_alias(x.array, y.array) ? Left::barrier : Left::nothing;
    }
    if (x.kind == model::AccessKind::atomic && y.kind == model::AccessKind::atomic)
      return Left::nothing;
    Polynomial p = facts_.resolved(x.index), q = facts_.resolved(y.index);
    if (!p.is_known() || !q.is_known()) return apart(a, b, {}, {}, 1);
    // What no thread changes does not tell elements apart.
    const Polynomial same = same_for_all(p);
    if (same == same_for_all(q)) p = p - same, q = q - same;
    OfThread of_p{}, of_q{};
    std::int64_t step = 0;
    split(p, of_p, step), split(q, of_q, step);
    return apart(a, b, of_p, of_q, step);
  }

  /// The terms of names that have one value as long as the block runs.
  [[nodiscard]] Polynomial same_for_all(const Polynomial& index) const {
    Polynomial out;
    for (const Polynomial::Term& term : index.terms()) {
      Polynomial one = term.coefficient;
      bool same = !term.factors.empty();
      for (const auto& factor : term.factors) {
        same = same && factor->op.empty() &&
               (factor->text.starts_with("blockIdx.") || factor->text.starts_with("gridDim.") ||
                fixed_.contains(factor->text));
        one = one * Polynomial::name(factor->text);
      }
      if (same) out += one;
    }
    return out;
  }

  /// The part that the thread's number decides; all else is a multiple of `step`, whatever it is.
  static void split(const Polynomial& index, OfThread& of_thread, std::int64_t& step) {
    for (const Polynomial::Term& term : index.terms()) {
      const std::string_view text =
          term.factors.size() == 1 ? std::string_view(term.factors[0]->text) : std::string_view();
      const std::size_t axis = text == "threadIdx.x"   ? 1
                               : text == "threadIdx.y" ? 2
                               : text == "threadIdx.z" ? 3
                                                       : 0;
      if (axis > 0 || term.factors.empty())
        of_thread[axis] += term.coefficient;
      else
        step = std::gcd(step, term.coefficient);
    }
  }

  /// Whether two threads meet at an element: `p` and `q` say which, up to multiples of `step`.
  [[nodiscard]] Left apart(
      const Touch& a, const Touch& b, const OfThread& p, const OfThread& q, std::int64_t step) {
    const auto each = [&](const Touch& t, const OfThread& of, const auto& visit) {
      const int width = t.access != nullptr ? t.access->vector_width : 1;
      for (const int thread : threads_at(t)) {
        const OfThread at = index_of(thread);
        const std::int64_t first =
            std::inner_product(of.begin(), of.end(), at.begin(), std::int64_t{0});
        for (std::int64_t k = first; k < first + width; ++k)
          visit(step == 0 ? k : (k % step + step) % step, thread);
      }
    };
    std::unordered_map<std::int64_t, std::vector<int>> users;
    each(a, p, [&](std::int64_t at, int thread) { users[at].push_back(thread); });
    Left out = Left::nothing;
    each(b, q, [&](std::int64_t at, int thread) {
      const auto met = users.find(at);
      if (met == users.end() || out == Left::barrier) return;
      for (const int other : met->second) {
        if (other == thread) continue;
        const bool warp = other / kWarpLanes == thread / kWarpLanes;
        out = std::min(out, warp ? Left::warp_barrier : Left::barrier);
      }
    });
    return out;
  }

  [[nodiscard]] std::string name_of(const Touch& t) const {
    return t.access != nullptr ? array_of(*t.access).name : std::string(t.variable->name);
  }
  [[nodiscard]] std::string line_of(const Touch& t) const {
    return std::to_string(model::line_of(model_.unit, t.stmt->span.begin));
  }

  const MoveContext& context_;
  const KernelModel& model_;
  const model::KernelFacts& facts_;
  std::array<std::int64_t, 3> block_{};
  std::vector<Touch> touches_;
  std::map<const Stmt*, Touches> at_;
  std::map<const model::Guard*, std::vector<bool>> kept_out_;
  std::set<std::string, std::less<>> fixed_;
  std::vector<const Stmt*> barriers_;
  std::set<const Stmt*> removed_;
};

}  // namespace

std::vector<SpareBarrier> spare_barriers(const MoveContext& context,
                                         const KernelModel& model,
                                         std::string& why) {
  BarrierNeeds needs(context, model);
  std::vector<SpareBarrier> out;
  if (!needs.read(why)) return out;
  for (std::size_t k = 0; k < needs.barriers().size(); ++k) {
    const Stmt& barrier = *needs.barriers()[k];
    if (!needs.is_reached(barrier)) continue;
    std::string reason;
    const Left left = needs.left(barrier, reason);
    if (left != Left::barrier)
      out.push_back({k, &barrier, left});
    else if (why.empty())
      why =
          "line " + std::to_string(model::line_of(model.unit, barrier.span.begin)) + ": " + reason;
  }
  return out;
}

std::vector<SpareBarrier> spare_together(const MoveContext& context,
                                         const KernelModel& model,
                                         const std::vector<SpareBarrier>& each) {
  BarrierNeeds needs(context, model);
  std::vector<SpareBarrier> out;
  std::string why;
  if (!needs.read(why)) return out;
  for (SpareBarrier one : each) {
    one.left = needs.left(*one.barrier, why);
    if (one.left == Left::barrier) continue;
    needs.remove(*one.barrier);
    out.push_back(one);
  }
  return out;
}

}  // namespace warpath
