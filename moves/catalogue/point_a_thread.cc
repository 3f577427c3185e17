#include <algorithm>

#include "moves/edit/known_shape.h"
#include "moves/edit/lane_loops.h"
#include "moves/edit/loop_move.h"
#include "moves/edit/plan_text.h"
#include "moves/edit/span_rewrite.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// A loop whose iterations are dealt to the threads of the grid becomes a guard: the grid has a
/// thread for each of them. Other moves look for the guard, or for a loop of the thread's own. Site
/// "loop:K".
class PointAThread final : public LoopMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "point_a_thread"; }
  [[nodiscard]] bool structural() const override { return true; }

 private:
  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const Loop& loop,
                                                 std::string& why) const override {
    const KernelFacts& facts = model.facts;
    if (!facts.veto.empty()) return why = facts.veto, std::nullopt;
    if (has_own_plans(context.spec))
      return why = "workloads have launch plans of their own", std::nullopt;
    return guarded(context, model, loop, why);
  }

  static std::optional<Variant> guarded(const MoveContext& context,
                                        const KernelModel& model,
                                        const Loop& loop,
                                        std::string& why) {
    if (loop.thread_axis < 3) return why = "the loop is not dealt to the grid", std::nullopt;
    const auto dealing = loop_dealing(model.facts, loop, why);
    if (!dealing) return std::nullopt;
    why = obstacle(model, loop, *dealing);
    if (!why.empty()) return std::nullopt;
    const auto axis = static_cast<std::size_t>(loop.thread_axis - 3);
    const auto points = plan_text(context, model, dealing->bound);
    if (!points)
      return why = "the number of points is no expression over the arguments", std::nullopt;
    const Expression& block = context.variant.launch.block[axis];
    Variant out = without_loop(context.variant, model, loop);
    out.launch.grid[axis] =
        Expression::parse("ceil_div(" + *points + ", " + block.text() + ")", "launch plan");
    if (!fits(context, out, axis)) return why = "the grid would be too long", std::nullopt;
    return out;
  }

  /// Empty if every iteration may be a thread's only one.
  static std::string obstacle(const KernelModel& model,
                              const Loop& loop,
                              const LoopDealing& dealing) {
    const KernelFacts& facts = model.facts;
    const Stmt& stmt = *loop.stmt;
    if (!dealing.from_lane) return "the loop does not start at the thread's number in the grid";
    if (stmt.parent != model.kernel->body) return "the loop stands in another statement";
    if (&stmt != model.kernel->body->children.back()) return "more follows the loop";
    if (loop.kind != LoopClass::parallel)
      return loop.reason.empty() ? "the loop's iterations depend on each other" : loop.reason;
    if (loop.exits_early || jumps_out(stmt)) return "the loop leaves early";
    if (joins_threads(stmt)) return "threads work together in the loop";
    for (const std::string& name : loop.assigned) {
      const auto& own = loop.private_scalars;
      if (name != loop.variable && std::find(own.begin(), own.end(), name) == own.end())
        return name + " keeps its value from one iteration to the next";
    }
    for (const Access& access : facts.accesses) {
      const bool inside = !access.loops.empty() && access.loops.front() == &loop;
      const Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
      if (inside || array.space != Space::global) continue;
      if (access.writes() || array.written) return "every thread changes memory before the loop";
    }
    const std::string variable = loop.variable;
    if (model.kernel->parameter(variable) != nullptr) return variable + " is a parameter's name";
    int uses = 0;
    walk_expressions(*model.kernel->body, [&](const Expr& e) {
      if (e.is_name("gridDim")) ++uses;
      return true;
    });
    const bool in_step = dealing.step_value != nullptr && mentions(*dealing.step_value, "gridDim");
    uses -= in_step ? 1 : 0;
    uses -= stride_declaration(model, loop, dealing) != nullptr ? 1 : 0;
    if (uses > 0) return "the kernel asks for its grid elsewhere";
    for (const Stmt* s : model.kernel->body->children) {
      for (const Declarator* d : s->declarators) {
        if (d->name == variable) return variable + " is declared before the loop";
      }
    }
    return {};
  }

  /// The declaration of a variable that is the loop's step and nothing else.
  static const Stmt* stride_declaration(const KernelModel& model,
                                        const Loop& loop,
                                        const LoopDealing& dealing) {
    if (dealing.step_value == nullptr || !dealing.step_value->is(ExprKind::name)) return nullptr;
    const std::string_view stride = dealing.step_value->name;
    int uses = 0;
    walk_expressions(*model.kernel->body, [&](const Expr& e) {
      if (e.is_name(stride)) ++uses;
      return true;
    });
    for (const Stmt* s : model.kernel->body->children) {
      if (s == loop.stmt) return nullptr;
      const bool own = s->is(StmtKind::declaration) && s->declarators.size() == 1 &&
                       s->declarators[0]->name == stride && mentions(*s, "gridDim");
      if (own) return uses == 1 ? s : nullptr;
    }
    return nullptr;
  }

  static Variant without_loop(const Variant& variant, const KernelModel& model, const Loop& loop) {
    const Unit& unit = model.unit;
    const Stmt& stmt = *loop.stmt;
    Rewrite rewrite(model);
    std::string ignored;
    if (const Stmt* const stride =
            stride_declaration(model, loop, *loop_dealing(model.facts, loop, ignored)))
      rewrite.replace(whole_lines(unit, stride->span), "");
    std::vector<Edit> edits;
    walk(*stmt.body, [&](const Stmt& s) {
      if (s.is(StmtKind::continue_) && enclosing_loop(s) == &stmt)
        edits.push_back({s.span.begin, s.span.end, "return;"});
      return true;
    });
    const std::string indent = indentation(unit, stmt.span.begin);
    const Span span{(stmt.pragma != nullptr ? stmt.pragma : &stmt)->span.begin, stmt.span.end};
    rewrite.replace(
        span, "const " + std::string(unit.plain_text(loop.declarator->type)) + " " + loop.variable +
                  " = " + unit.plain_text(loop.first_expr->outer) + ";\n" + indent + "if (" +
                  unit.plain_text(stmt.expr->outer) + ") {\n" +
                  indented(body_text(unit, *stmt.body, edits), indent + indent_unit(unit)) +
                  indent + "}");
    return rewrite.finish(variant);
  }

  static bool fits(const MoveContext& context, const Variant& variant, std::size_t axis) {
    constexpr std::int64_t kMostBlocks[] = {INT32_MAX, 65535, 65535};
    const auto workloads = workloads_of(context);
    return std::all_of(workloads.begin(), workloads.end(), [&](const Workload* w) {
      const std::int64_t blocks =
          variant.launch.grid[axis].evaluate(context.spec.bindings(*w, variant.tunables), "grid");
      return blocks >= 0 && blocks <= kMostBlocks[axis];
    });
  }
};

}  // namespace

std::optional<Variant> with_point_a_thread(const MoveContext& context) {
  const PointAThread move;
  const std::vector<MoveInstance> found = move.enumerate(context);
  std::string why;
  return found.empty() ? std::nullopt : move.apply(context, found.front(), why);
}

void register_move_point_a_thread(MoveRegistry& registry) {
  registry.add("point_a_thread", "a thread for every iteration of a loop that is dealt to the grid",
               [] { return std::make_unique<PointAThread>(); });
}

}  // namespace warpath
