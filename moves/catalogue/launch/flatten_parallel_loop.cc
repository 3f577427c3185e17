#include <algorithm>

#include "moves/edit/known_shape.h"
#include "moves/edit/loop_move.h"
#include "moves/edit/pack_accesses.h"
#include "moves/edit/span_rewrite.h"
#include "moves/launch/lane_loops.h"
#include "moves/launch/launch_places.h"
#include "moves/launch/plan_text.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

/// Each iteration of a thread's parallel loop becomes a thread: thread t does iteration t % C of
/// item t / C. Where threads have no such item, or already share the loop, its iterations are dealt
/// to blocks along an axis that the grid has free: every block along it does what stands before the
/// loop, which leaves nothing in global memory. Site "loop:K".
class FlattenParallelLoop final : public LoopMove {
 public:
  [[nodiscard]] std::string_view name() const override { return "flatten_parallel_loop"; }

 private:
  [[nodiscard]] std::optional<Variant> rewritten(const MoveContext& context,
                                                 const KernelModel& model,
                                                 const Loop& loop,
                                                 std::string& why) const override {
    const KernelFacts& facts = model.facts;
    if (!facts.veto.empty()) return why = facts.veto, std::nullopt;
    if (has_own_plans(context.spec))
      return why = "workloads have launch plans of their own", std::nullopt;
    if (auto flat = for_loop(context, model, loop, why)) return flat;
    std::string ignored;  // an item a thread is what is usual
    return over_free_axis(context, model, loop, ignored);
  }

  /// Nothing but the loop touches what it writes, and nothing else is left in global memory.
  static bool stands_alone(const KernelFacts& facts, const Loop& loop) {
    const auto inside = [&](const Access& a) {
      return std::ranges::find(a.loops, &loop) != a.loops.end();
    };
    const auto is_global = [&](const Access& a) {
      return facts.arrays[static_cast<std::size_t>(a.array)].space == Space::global;
    };
    return std::ranges::all_of(facts.accesses, [&](const Access& outside) {
      if (inside(outside) || !is_global(outside)) return true;
      return !outside.writes() && std::ranges::none_of(facts.accesses, [&](const Access& w) {
        return w.writes() && is_global(w) && facts.may_alias(outside.array, w.array);
      });
    });
  }

  static std::optional<Variant> over_free_axis(const MoveContext& context,
                                               const KernelModel& model,
                                               const Loop& loop,
                                               std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    const auto dealing = loop_dealing(facts, loop, why);
    if (!dealing) return std::nullopt;
    if (loop.kind != LoopClass::parallel || loop.parent != nullptr)
      return why = "the loop's iterations depend on each other", std::nullopt;
    const bool of_block = dealing->strided && dealing->from_lane && loop.thread_axis >= 0;
    if (dealing->strided ? !of_block || loop.thread_axis > 2 : fixed(facts, loop.first) != 0)
      return why = "the loop does not count from 0, nor over a block's threads", std::nullopt;
    if (jumps_out(*loop.stmt) || joins_threads(*loop.stmt))
      return why = "the loop leaves early or joins threads", std::nullopt;
    for (const std::string& name : loop.assigned) {
      const auto& own = loop.private_scalars;
      if (name != loop.variable && std::ranges::find(own, name) == own.end())
        return why = name + " keeps its value from one iteration to the next", std::nullopt;
    }
    if (!stands_alone(facts, loop))
      return why = "more than the loop touches what it writes", std::nullopt;
    const auto trips = fixed(facts, dealing->bound);
    if (trips && *trips < kFewest) return why = "the loop is short", std::nullopt;
    const auto count = plan_text_of_end(context, model, loop);
    if (!count)
      return why = "the number of iterations is no expression over the arguments", std::nullopt;
    if (size_of_type(unit.plain_text(loop.declarator->type)) < 8 &&
        !stays_small(context, facts, (loop.end + loop.step) * Polynomial(2)))
      return why = "a 32-bit index could overflow", std::nullopt;
    for (const std::size_t axis : {1U, 2U}) {
      const auto places = launch_places(model, axis, why);
      if (!places) return std::nullopt;
      if (context.variant.launch.grid[axis] != Expression(1) || !places->blocks.empty() ||
          !places->grids.empty())
        continue;
      const std::string letter(1, "xyz"[axis]);
      const std::string stride = dealing->stride == "1" ? "" : as_factor(dealing->stride) + " * ";
      Rewrite rewrite(model);
      rewrite.replace(loop.first_expr->outer,
                      (of_block ? dealing->first + " + " : "") + stride + "blockIdx." + letter);
      rewrite.replace(loop.stmt->step->outer,
                      loop.variable + " += " + stride + "gridDim." + letter);
      Variant out = rewrite.finish(context.variant);
      const Expression& block =
          out.launch.block[static_cast<std::size_t>(of_block ? loop.thread_axis : 0)];
      out.launch.grid[axis] = Expression::parse(
          "min(" + (of_block ? "ceil_div(" + *count + ", " + block.text() + ")" : *count) +
              ", 65535)",
          "launch plan");
      for (const Workload* w : workloads_of(context)) {
        const std::int64_t blocks =
            out.launch.grid[axis].evaluate(context.spec.bindings(*w, out.tunables), "grid");
        if (blocks < 2) return why = "one block has all iterations", std::nullopt;
      }
      return out;
    }
    return why = "the grid has no axis free", std::nullopt;
  }

  static constexpr std::int64_t kFewest = 4;  ///< iterations worth a block each

  static std::optional<Variant> for_loop(const MoveContext& context,
                                         const KernelModel& model,
                                         const Loop& loop,
                                         std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    const auto body = guarded_body(facts, 0, why);
    if (!body) return std::nullopt;
    const auto dealing = loop_dealing(facts, loop, why);
    if (!dealing) return std::nullopt;
    const Declarator& index = *body->index->declarator;
    if (loop.kind != LoopClass::parallel)
      return why = loop.reason.empty() ? "the loop's iterations depend on each other" : loop.reason,
             std::nullopt;
    if (dealing->strided || fixed(facts, loop.first) != 0)
      return why = "the loop does not count from 0", std::nullopt;
    if (body->statements.empty() || body->statements.back() != loop.stmt)
      return why = "the loop is not the last thing the thread does", std::nullopt;
    for (std::size_t k = 0; k + 1 < body->statements.size(); ++k) {
      const Stmt& s = *body->statements[k];
      if (!s.is(StmtKind::declaration) && !s.is(StmtKind::directive))
        return why = "more than declarations stands before the loop", std::nullopt;
    }
    if (!body->only_bound || index.value() == nullptr || index.stmt->declarators.size() != 1)
      return why = "the guard is more than a bound of the thread's index", std::nullopt;
    if (jumps_out(*loop.stmt->body) || joins_threads(*loop.stmt))
      return why = "the loop leaves early or joins threads", std::nullopt;
    for (const std::string& name : loop.assigned) {
      if (name != loop.variable)
        return why = name + " keeps its value from one iteration to the next", std::nullopt;
    }
    for (const std::string& name : dealing->bound.names()) {
      if (facts.kernel->parameter(name) == nullptr && !fixed(facts, dealing->bound))
        return why = "the number of iterations differs among threads", std::nullopt;
    }
    const auto rows = plan_text(context, model, *body->index->bound),
               columns = plan_text_of_end(context, model, loop);
    if (!rows || !columns)
      return why = "the number of items is no expression over the arguments", std::nullopt;
    const bool wide = !fits(context, facts, *body->index->bound, dealing->bound);

    Rewrite rewrite(model);
    const std::string flat = rewrite.fresh("item"), i = body->index->name, j = loop.variable,
                      count = as_factor(dealing->end);
    const std::string type = wide ? "long long" : "int",
                      first = unit.plain_text(index.value()->outer);
    const std::string kind = unit.plain_text(index.type);
    const std::string total =
        (wide ? "(long long)" : "") + as_factor(bound_text(unit, *body)) + " * " + count;
    rewrite.replace(index.stmt->span,
                    "const " + type + " " + flat + " = " +
                        (wide ? "(long long)blockIdx.x * blockDim.x + threadIdx.x" : first) +
                        ";\n" + indentation(unit, index.stmt->span.begin) + "const " + kind + " " +
                        i + " = " + flat + " / " + count + ";");
    const Expr& condition = *body->guard->expr;
    rewrite.replace(condition.span,
                    body->early_exit ? flat + " >= " + total : flat + " < " + total);
    const Stmt& stmt = *loop.stmt;
    std::string text = "const " + std::string(unit.plain_text(loop.declarator->type)) + " " + j +
                       " = " + flat + " % " + count + ";\n" + body_text(unit, *stmt.body);
    const std::string indent = indentation(unit, stmt.span.begin);
    const bool braces = stmt.parent->is(StmtKind::block);
    const Span span{(stmt.pragma != nullptr ? stmt.pragma : &stmt)->span.begin, stmt.span.end};
    text = indented(text, indent);
    if (text.ends_with('\n')) text.pop_back();
    rewrite.replace(
        span, braces ? text.substr(std::min(indent.size(), text.size()))
                     : "{\n" + text + "\n" + indentation(unit, body->guard->span.begin) + "}");
    Variant out = rewrite.finish(context.variant);
    out.launch.grid[0] = Expression::parse("ceil_div(" + *rows + " * " + *columns + ", " +
                                               context.variant.launch.block[0].text() + ")",
                                           "launch plan");
    return out;
  }

  /// The number of threads stays below 2^31 in every workload.
  static bool fits(const MoveContext& context,
                   const KernelFacts& facts,
                   const Polynomial& rows,
                   const Polynomial& columns) {
    for (const Workload* w : workloads_of(context)) {
      const Bindings values = facts.values(*w);
      const auto r = facts.resolved(rows).evaluate(values),
                 c = facts.resolved(columns).evaluate(values);
      if (!r || !c || *r < 0 || *c < 0 || (*c > 0 && *r > (INT32_MAX - 2048) / *c)) return false;
    }
    return true;
  }
};

}  // namespace

void register_move_flatten_parallel_loop(MoveRegistry& registry) {
  registry.add("flatten_parallel_loop", "a thread for each iteration of the threads' parallel loop",
               [] { return on_known_shape(std::make_unique<FlattenParallelLoop>()); });
}

}  // namespace warpath
