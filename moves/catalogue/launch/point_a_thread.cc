#include <algorithm>

#include "moves/edit/known_shape.h"
#include "moves/edit/loop_move.h"
#include "moves/edit/span_rewrite.h"
#include "moves/launch/lane_loops.h"
#include "moves/launch/plan_text.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// A loop whose iterations are dealt to the threads of the grid becomes a guard: the grid has a
/// thread for each of them. Where the launched grid has one already, no thread comes to a second
/// iteration, and whatever the iterations have to do with each other, the guard says the same.
/// Other moves look for the guard, or for a loop of the thread's own. Site "loop:K".
class PointAThread final : public LoopMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "point_a_thread"; }
  [[nodiscard]] bool structural() const override { return true; }

  /// At a kernel that has a normal form, the move at that; the result is in normal form, too.
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& given) const override {
    const auto normal = with_normal_form(given);
    return LoopMove::enumerate({given.spec, normal ? *normal : given.variant, given.device});
  }
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& given,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    const auto normal = with_normal_form(given);
    auto out =
        LoopMove::apply({given.spec, normal ? *normal : given.variant, given.device}, wanted, why);
    // what stood in the loop could not be written otherwise there
    if (out) {
      if (auto better = with_normal_form({given.spec, *out, given.device})) return better;
    }
    return out;
  }

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
    const auto dealing = loop_dealing(model.facts, loop, why, /*may_leave=*/true);
    if (!dealing) return std::nullopt;
    if (!dealing->from_lane)
      return why = "the loop does not start at the thread's number in the grid", std::nullopt;
    const auto axis = static_cast<std::size_t>(loop.thread_axis - 3);
    const auto points = plan_text_of_end(context, model, loop);
    why = obstacle(model, loop, *dealing);
    if (!why.empty()) {
      const bool once = points && comes_once(context, *points, axis) && may_stand_here(loop);
      return once ? std::optional(without_loop(context.variant, model, loop)) : std::nullopt;
    }
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
    int uses = 0;
    walk_expressions(*model.kernel->body, [&](const Expr& e) {
      if (e.is_name("gridDim")) ++uses;
      return true;
    });
    const bool in_step = dealing.step_value != nullptr && mentions(*dealing.step_value, "gridDim");
    uses -= in_step ? 1 : 0;
    uses -= stride_declaration(model, loop, dealing) != nullptr ? 1 : 0;
    if (uses > 0) return "the kernel asks for its grid elsewhere";
    return {};
  }

  /// The grid that is launched has a thread for every point, whatever its tunables say.
  static bool comes_once(const MoveContext& context, const std::string& points, std::size_t axis) {
    const LaunchPlan& plan = context.variant.launch;
    const Expression count = Expression::parse(points, "points");
    std::vector<TunableValues> choices{context.variant.tunables};
    for (const Tunable& t : context.spec.tunables) {
      const bool named = plan.grid[axis].names().contains(t.name) ||
                         plan.block[axis].names().contains(t.name) ||
                         count.names().contains(t.name);
      if (!named) continue;
      std::vector<TunableValues> more;
      for (const TunableValues& choice : choices) {
        for (const std::int64_t value : t.values)
          more.emplace_back(choice).insert_or_assign(t.name, value);
      }
      if (more.size() > kMostChoices) return false;
      choices = std::move(more);
    }
    for (const Workload* w : workloads_of(context)) {
      for (const TunableValues& choice : choices) {
        const Bindings values = context.spec.bindings(*w, choice);
        const std::int64_t threads =
            plan.grid[axis].evaluate(values, "grid") * plan.block[axis].evaluate(values, "block");
        if (count.evaluate(values, "points") > threads) return false;
      }
    }
    return true;
  }

  /// A guard may stand in the loop's place: in blocks and ifs alone, at the end of each where an
  /// iteration is cut short.
  static bool may_stand_here(const Loop& loop) {
    const Stmt& stmt = *loop.stmt;
    bool last = true;
    for (const Stmt* at = &stmt; at->parent != nullptr; at = at->parent) {
      const Stmt& up = *at->parent;
      if (!up.is(StmtKind::block) && !up.is(StmtKind::if_)) return false;
      last = last && (!up.is(StmtKind::block) || up.children.back() == at);
    }
    return stmt.parent->is(StmtKind::block) && (last || cuts(stmt).empty());
  }

  /// A statement that continues with the next iteration or ends the loop.
  static std::vector<const Stmt*> cuts(const Stmt& loop) {
    std::vector<const Stmt*> out;
    walk(*loop.body, [&](const Stmt& s) {
      const Stmt* target = s.parent;
      while (target != nullptr && !target->is_loop() &&
             !(s.is(StmtKind::break_) && target->is(StmtKind::switch_)))
        target = target->parent;
      const bool cut = s.is(StmtKind::continue_) || s.is(StmtKind::break_);
      if (cut && target == &loop) out.push_back(&s);
      return true;
    });
    return out;
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
            stride_declaration(model, loop, *loop_dealing(model.facts, loop, ignored, true)))
      rewrite.replace(whole_lines(unit, stride->span), "");
    std::vector<Edit> edits;
    for (const Stmt* s : cuts(stmt)) edits.push_back({s->span.begin, s->span.end, "return;"});
    const std::string indent = indentation(unit, stmt.span.begin);
    const Span span{(stmt.pragma != nullptr ? stmt.pragma : &stmt)->span.begin, stmt.span.end};
    const std::string guard = "const " + std::string(unit.plain_text(loop.declarator->type)) + " " +
                              loop.variable + " = " + unit.plain_text(loop.first_expr->outer) +
                              ";\nif (" + unit.plain_text(stmt.expr->outer) + ") {\n" +
                              indented(body_text(unit, *stmt.body, edits), indent_unit(unit)) + "}";
    const std::string text =
        keeps_apart(model, loop) ? "{\n" + indented(guard, indent_unit(unit)) + "\n}" : guard;
    rewrite.replace(span, indented(text, indent).substr(indent.size()));
    return rewrite.finish(variant);
  }

  /// The index would meet another of its name.
  static bool keeps_apart(const KernelModel& model, const Loop& loop) {
    const Stmt& parent = *loop.stmt->parent;
    if (&parent == model.kernel->body && model.kernel->parameter(loop.variable) != nullptr)
      return true;
    return std::ranges::any_of(parent.children, [&](const Stmt* s) {
      const bool declares = std::ranges::any_of(
          s->declarators, [&](const Declarator* d) { return d->name == loop.variable; });
      return s != loop.stmt && (declares || mentions(*s, loop.variable));
    });
  }

  static constexpr std::size_t kMostChoices = 256;

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
  return model::remembered(context, "point_a_thread", [&] {
    const PointAThread move;
    const std::vector<MoveInstance> found = move.enumerate(context);
    std::string why;
    return found.empty() ? std::nullopt : move.apply(context, found.front(), why);
  });
}

void register_move_point_a_thread(MoveRegistry& registry) {
  registry.add("point_a_thread", "a thread for every iteration of a loop that is dealt to the grid",
               [] { return std::make_unique<PointAThread>(); });
}

}  // namespace warpath
