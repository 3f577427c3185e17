#include "moves/launch/lane_loops.h"

#include <algorithm>

#include "moves/edit/device_limits.h"
#include "moves/edit/span_rewrite.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

/// `f` counts the members of a group of `s` threads: threadIdx.x % s, threadIdx.x & (s - 1),
/// threadIdx.x of a block of s.
bool is_lane_of(const KernelFacts& facts, const Polynomial& f, const Polynomial& s) {
  const auto lanes = fixed(facts, s);
  const Polynomial value = facts.resolved(f);
  if (value == Polynomial::name("threadIdx.x"))
    return s == Polynomial::name("blockDim.x") ||
           facts.resolved(s) == facts.resolved(Polynomial::name("blockDim.x"));
  if (!lanes || value.terms().size() != 1 || value.terms()[0].coefficient != 1 ||
      value.terms()[0].factors.size() != 1)
    return false;
  const Atom& atom = *value.terms()[0].factors[0];
  if (atom.operands.size() != 2 || !(atom.operands[0] == Polynomial::name("threadIdx.x")))
    return false;
  const auto number = fixed(facts, atom.operands[1]);
  return (atom.op == "%" && number == *lanes) ||
         (atom.op == "&" && number == *lanes - 1 && (*lanes & (*lanes - 1)) == 0);
}

/// A loop over the threads of a block or the grid starts at the thread's number in it: any offset
/// would be dealt to the lanes as well.
bool starts_at_thread(const KernelFacts& facts, const Loop& loop) {
  if (loop.thread_axis < 0) return false;
  const std::string axis(1, "xyz"[loop.thread_axis % 3]);
  const Polynomial offset = facts.resolved(loop.first.without("threadIdx." + axis));
  const Polynomial blocks_before =
      facts.resolved(Polynomial::name("blockIdx." + axis) * Polynomial::name("blockDim." + axis));
  return offset == (loop.thread_axis < 3 ? Polynomial(0) : blocks_before);
}

/// The use joins the lanes' values.
bool combines(const KernelFacts& facts, const Expr& use) {
  const auto joins = [](std::string_view text) {
    return text.find("__shfl") != std::string_view::npos ||
           text.find("__reduce") != std::string_view::npos || text.starts_with("atomic");
  };
  const std::string variable(use.name);
  const auto joined = [&](const Expr& e) {
    const std::string_view name = callee(e);
    if (joins(name)) return mentions(e, variable);
    const Function* const helper = name.empty() ? nullptr : facts.unit->find_function(name);
    return helper != nullptr && helper->body != nullptr && joins_threads(*helper->body) &&
           mentions(e, variable);
  };
  for (const Expr* at = &use; at != nullptr; at = at->parent) {
    if (joined(*at)) return true;
    // sum += __shfl_xor_sync(..., sum, ...)
    if (at->is(ExprKind::assign) && at->arg(0).is_name(variable)) {
      bool found = false;
      walk(at->arg(1), [&](const Expr& e) { return found = found || joined(e), !found; });
      if (found) return true;
    }
    if (at->parent != nullptr && at->parent->is_op(ExprKind::assign, "=") &&
        at->parent->args[1] == at) {
      const Access* const target = facts.access_of(at->parent->arg(0));
      if (target != nullptr &&
          facts.arrays[static_cast<std::size_t>(target->array)].space == Space::shared)
        return true;
    }
  }
  return false;
}

}  // namespace

std::optional<LoopDealing> loop_dealing(const KernelFacts& facts,
                                        const Loop& loop,
                                        std::string& why,
                                        bool may_leave) {
  const Unit& unit = *facts.unit;
  const auto refuse = [&](const char* reason) { return why = reason, std::nullopt; };
  if (!loop.counted || loop.descending || !loop.declared_inside || !loop.stmt->is(StmtKind::for_)) {
    return refuse("the loop does not count up with an index of its own");
  }
  if (loop.exits_early && !may_leave) return refuse("the loop leaves early");
  if (loop.stmt->body == nullptr || loop.stmt->step == nullptr || loop.first_expr == nullptr ||
      !loop.source_end.is_known())
    return refuse("the loop's head has no plain form");
  const Stmt* const init = loop.stmt->init;
  if (init == nullptr || init->declarators.size() != 1 || loop.declarator == nullptr ||
      loop.declarator->value() == nullptr) {
    return refuse("the loop's head declares more than its index");
  }
  LoopDealing out;
  out.first = unit.plain_text(loop.first_expr->span);
  out.bound = loop.source_end;
  out.end = loop.inclusive || loop.bound_expr == nullptr ? loop.source_end.text()
                                                         : unit.plain_text(loop.bound_expr->span);
  const Expr& step = *loop.stmt->step;
  if (step.is_op(ExprKind::assign, "+=")) {
    out.step_value = &step.arg(1);
    out.stride = unit.plain_text(step.arg(1).outer);
  } else if (step.is(ExprKind::unary) || step.is(ExprKind::postfix)) {
    out.stride = "1";
  } else {
    return refuse("the loop's step has no plain form");
  }
  if (fixed(facts, loop.step) == 1) {
    if (!fixed(facts, loop.first)) return refuse("the loop does not start at a constant");
    return out;
  }
  out.strided = true;
  out.from_lane = starts_at_thread(facts, loop) || is_lane_of(facts, loop.first, loop.step);
  if (!out.from_lane && loop.thread_axis < 0) return refuse("the loop is not dealt to lanes");
  return out;
}

bool is_shared_by_lanes(const KernelFacts& facts, const Loop& loop, const Polynomial& value) {
  Polynomial rest = facts.resolved(value);
  if (!rest.is_known()) return false;
  if (loop.thread_axis >= 3) return facts.uniformity(rest) <= Uniformity::grid;
  // The other axes tell groups of lanes apart, and so does the number of the group along the first.
  for (int axis = 0; axis < 3; ++axis) {
    const std::string a(1, "xyz"[axis]);
    if (loop.thread_axis >= 0 && axis != loop.thread_axis)
      rest = rest.substituted("threadIdx." + a, Polynomial::name("blockIdx." + a));
  }
  const auto lanes = loop.thread_axis < 0 ? fixed(facts, loop.step) : std::nullopt;
  for (const std::string& text : rest.atoms()) {
    const Atom* const atom = rest.operation_atom(text);
    if (!lanes || atom == nullptr || atom->op != "/" ||
        !(atom->operands[0] == Polynomial::name("threadIdx.x")))
      continue;
    const auto size = fixed(facts, atom->operands[1]);
    if (size && *size > 0 && *size % *lanes == 0) rest = rest.without(text);
  }
  return facts.uniformity(rest) <= Uniformity::block;
}

bool asks_for_thread(const KernelFacts& facts,
                     const Stmt& stmt,
                     const std::vector<std::string>& except) {
  bool found = false;
  walk_expressions(stmt, [&](const Expr& e) {
    if (callee(e).starts_with("atomic") && e.args.size() > 1) {
      const Expr& place = strip_casts(e.arg(1));
      const Expr& target = place.is_op(ExprKind::unary, "&") ? place.arg(0) : place;
      const Access* const access = facts.access_of(target);
      if (access != nullptr &&
          facts.arrays[static_cast<std::size_t>(access->array)].space == Space::shared) {
        for (std::size_t i = 2; i < e.args.size(); ++i) {
          walk(e.arg(i), [&](const Expr& value) {
            return found = found || value.is_name("threadIdx"), true;
          });
        }
        return false;
      }
    }
    if (!e.is(ExprKind::name) || std::find(except.begin(), except.end(), e.name) != except.end())
      return !found;
    if (e.name == "threadIdx" || e.name == "blockIdx") found = true;
    const Declarator* const d = declaration_of(*facts.unit, e);
    if (d != nullptr && !d->is_pointer() && !d->is_array() && d->stmt != nullptr &&
        !is_inside(*d->stmt, stmt) && d->value() != nullptr) {
      const Polynomial value = facts.polynomial(*d->value());
      for (const char* axis : {"threadIdx.x", "threadIdx.y", "threadIdx.z"})
        found = found || (value.is_known() && value.mentions(axis));
    }
    return !found;
  });
  return found;
}

namespace {

/// All threads of the block, or of the warp, have done what is before it when one goes on behind
/// it. An `if` or a loop may do nothing.
bool joins(const Stmt& stmt, bool of_warp) {
  if (stmt.is(StmtKind::block))
    return std::ranges::any_of(stmt.children, [&](const Stmt* s) { return joins(*s, of_warp); });
  if (!stmt.is(StmtKind::expression) || stmt.expr == nullptr) return false;
  const std::string_view f = callee(*stmt.expr);
  return f.starts_with("__syncthreads") || f == "__barrier_sync" || (of_warp && f == "__syncwarp");
}

/// Whether something joins the threads before (`ahead` = false) or behind `stmt`, whenever it is
/// done, within `outer`, one of the statements around it.
bool joined_within(const Stmt& stmt, const Stmt& outer, bool ahead, bool of_warp) {
  for (const Stmt* at = &stmt; at != &outer && at->parent != nullptr; at = at->parent) {
    if (!at->parent->is(StmtKind::block)) continue;
    const auto& all = at->parent->children;
    const auto own = std::ranges::find(all, at);
    const auto meets = [&](const Stmt* s) { return joins(*s, of_warp); };
    if (ahead ? std::any_of(own + (own == all.end() ? 0 : 1), all.end(), meets)
              : std::any_of(all.begin(), own, meets))
      return true;
  }
  return false;
}

/// The innermost statement around both, and none of them.
const Stmt* around(const Stmt& a, const Stmt& b) {
  const Stmt* at = a.parent;
  while (at != nullptr && (at == &b || !is_inside(b, *at))) at = at->parent;
  return at;
}

/// The threads are joined between the two, whichever comes first, and where a loop is around both
/// also between one iteration and the next.
bool kept_apart(const Stmt& a, const Stmt& b, bool of_warp) {
  const Stmt* const common = around(a, b);
  if (common == nullptr) return false;
  // `b` is a condition around the other, of a loop before each iteration
  if (is_inside(a, b) && b.is_loop() && !joined_within(a, b, true, of_warp)) return false;
  const Stmt &first = a.span.begin < b.span.begin ? a : b, &second = &first == &a ? b : a;
  const auto between = [&] {
    if (!common->is(StmtKind::block)) return false;
    bool found = false;
    for (const Stmt* s : common->children)
      found = found || (s->span.begin >= first.span.end && s->span.end <= second.span.begin &&
                        joins(*s, of_warp));
    return found;
  };
  const auto below = [&](const Stmt& s) {
    const Stmt* at = &s;
    while (at->parent != common) at = at->parent;
    return at;
  };
  if (!between() && !joined_within(first, *below(first), true, of_warp) &&
      !joined_within(second, *below(second), false, of_warp))
    return false;
  for (const Stmt* loop = common; loop != nullptr; loop = loop->parent) {
    if (!loop->is_loop()) continue;
    return joined_within(second, *loop, true, of_warp) ||
           joined_within(first, *loop, false, of_warp);
  }
  return true;
}

/// What another lane leaves or takes of an array that the loop's lanes go through: if the lanes
/// swapped iterations, nothing would keep the two apart.
const Access* unordered_with_loop(const KernelFacts& facts, const Loop& loop) {
  const auto lanes = fixed(facts, loop.step);
  const bool of_warp = lanes && *lanes <= kWarp;
  for (const Access* own : facts.accesses_in(*loop.stmt)) {
    if (facts.arrays[static_cast<std::size_t>(own->array)].space == Space::local) continue;
    for (const Access& other : facts.accesses) {
      const bool both_atomic = own->kind == AccessKind::atomic && other.kind == AccessKind::atomic;
      if ((!own->writes() && !other.writes()) || both_atomic ||
          is_inside(*other.stmt, *loop.stmt) ||
          (own->array != other.array && !facts.may_alias(own->array, other.array)))
        continue;
      if (!kept_apart(*loop.stmt, *other.stmt, of_warp)) return &other;
    }
  }
  return nullptr;
}

}  // namespace

bool lanes_may_swap(const KernelFacts& facts, const Loop& loop, std::string& why) {
  if (loop.kind != LoopClass::parallel && loop.kind != LoopClass::reduction)
    return why = "the loop's iterations depend on each other", false;
  if (loop.children.empty() && facts.accesses_in(*loop.stmt).empty())
    return why = "the loop reads nothing", false;
  for (const Access* access : facts.accesses_in(*loop.stmt)) {
    const Array& array = facts.arrays[static_cast<std::size_t>(access->array)];
    const bool outside = array.declarator == nullptr || array.declarator->stmt == nullptr ||
                         !is_inside(*array.declarator->stmt, *loop.stmt);
    if (array.space == Space::local && outside)
      return why = array.name + " keeps what a lane saw", false;
  }
  if (const Access* const other = unordered_with_loop(facts, loop))
    return why = "no barrier keeps the loop apart from what threads do with " +
                 facts.arrays[static_cast<std::size_t>(other->array)].name + " elsewhere",
           false;
  for (const std::string& name : loop.assigned) {
    if (name == loop.variable || std::find(loop.private_scalars.begin(), loop.private_scalars.end(),
                                           name) != loop.private_scalars.end())
      continue;
    const Expr* next = nullptr;
    walk_expressions(*facts.kernel->body, [&](const Expr& e) {
      if (e.is_name(name) && e.span.begin >= loop.stmt->span.end &&
          (next == nullptr || e.span.begin < next->span.begin)) {
        bool again = false;  // another loop adds to it
        for (const auto& other : facts.loops) {
          for (const Reduction& r : other->reductions) {
            again = again || (r.accumulator == name && r.stmt != nullptr &&
                              r.stmt->span.contains(e.span) && other.get() != &loop);
          }
        }
        if (!again) next = &e;
      }
      return true;
    });
    if (next != nullptr && !combines(facts, *next))
      return why = name + " is used before the lanes' values are combined", false;
  }
  return true;
}

}  // namespace warpath
