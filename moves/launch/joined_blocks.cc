#include "moves/launch/joined_blocks.h"

#include <algorithm>
#include <vector>

#include "moves/edit/span_rewrite.h"
#include "moves/launch/grid_stride.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"

namespace warpath {

using namespace model;

namespace {

bool is_builtin(const Expr& e, std::string_view name) {
  return e.is(ExprKind::member) && e.name == "x" && e.arg(0).is_name(name);
}

bool is_at_most_grid(Uniformity u) {
  return u == Uniformity::constant || u == Uniformity::grid;
}

/// True if `value` is 1 in blocks of so many threads.
bool is_one(const KernelFacts& facts, const Polynomial& value, std::int64_t threads) {
  return facts.resolved(value.substituted("blockDim.x", threads)) == Polynomial(1);
}
/// Every block of the grid comes to each barrier equally often.
bool barriers_are_shared(const KernelFacts& facts) {
  bool shared = true;
  walk(*facts.kernel->body, [&](const Stmt& s) {
    if (s.is(StmtKind::return_)) shared = false;
    if (!joins_threads(s) || s.is(StmtKind::block)) return shared;
    if (s.is(StmtKind::if_))
      shared = shared && s.expr && is_at_most_grid(facts.uniformity(*s.expr));
    if (s.is_loop()) {
      const Loop* loop = facts.loop_of(s);
      shared = shared && s.expr != nullptr && loop != nullptr && !loop->exits_early &&
               is_at_most_grid(facts.uniformity(*s.expr));
    }
    return shared;
  });
  return shared;
}

/// The edits for one shared array: an extent more, which is the block's; false if it is used as a
/// whole.
bool widen(const KernelModel& kernel,
           const Array& array,
           const std::string& count,
           std::vector<Edit>& edits) {
  const Declarator& d = *array.declarator;
  edits.push_back({d.extents_span.end, d.extents_span.end, "[" + count + "]"});
  bool plain = d.init.empty();
  walk_expressions(*kernel.kernel->body, [&](const Expr& e) {
    if (!e.is_name(array.name)) return true;
    std::size_t depth = 0;
    const Expr* const at = &subscripted(e, depth);
    plain = plain && depth == d.extents.size();
    for (const Expr* up = at->parent; up != nullptr; up = up->parent)
      plain = plain && !(up->is(ExprKind::cast) &&
                         kernel.unit.text(up->type).find('*') != std::string_view::npos);
    edits.push_back({at->span.end, at->span.end, "[threadIdx.x]"});
    return true;
  });
  return plain;
}

/// As widen(), for shared variables without extents, of which the model keeps no array; false if
/// one is anything but read, written or given to an atomic by its name. `count`: their number.
bool widen_variables(const KernelModel& kernel,
                     const std::string& width,
                     std::vector<Edit>& edits,
                     std::int64_t& count) {
  bool plain = true;
  walk(*kernel.kernel->body, [&](const Stmt& s) {
    for (const Declarator* const d : s.declarators) {
      if (!d->has(kShared) || d->is_array()) continue;
      plain = plain && !d->is_pointer() && d->init.empty();
      edits.push_back({d->name_span.end, d->name_span.end, "[" + width + "]"});
      count += 1;
      walk_expressions(*kernel.kernel->body, [&](const Expr& e) {
        if (!e.is_name(d->name) || declaration_of(kernel.unit, e) != d) return true;
        const Expr* const up = e.parent;
        const Expr* const call = up != nullptr && up->is_op(ExprKind::unary, "&") ? up->parent : up;
        if (call != nullptr && call->is(ExprKind::call))
          plain = plain && up != call && callee(*call).starts_with("atomic");
        plain = plain && !(up != nullptr && up->is_op(ExprKind::unary, "&") &&
                           (call == nullptr || !call->is(ExprKind::call)));
        edits.push_back({e.span.end, e.span.end, "[threadIdx.x]"});
        return true;
      });
    }
    return true;
  });
  return plain;
}

bool uses_indices_elsewhere(const KernelModel& kernel) {
  const auto mentions_one = [](std::string_view text) {
    return std::ranges::any_of(
        std::vector<std::string_view>{"threadIdx", "blockIdx", "blockDim", "gridDim"},
        [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
  };
  for (const Macro& macro : kernel.unit.macros()) {
    if (mentions_one(macro.body)) return true;
  }
  return std::ranges::any_of(kernel.unit.functions(), [&](const Function* f) {
    return f != kernel.kernel && !f->is_global && mentions_one(kernel.unit.text(f->span));
  });
}

}  // namespace

bool gains_side_by_side(const KernelFacts& facts, std::int64_t threads) {
  double better = 0, worse = 0;
  for (const Access& access : facts.accesses) {
    const Array& array = facts.arrays[static_cast<std::size_t>(access.array)];
    if (array.space != Space::global || !access.index.affine_in("blockIdx.x")) continue;
    const double weight = access.loops.empty() ? 1 : 64;
    const bool across = is_one(facts, access.index.coefficient_of("blockIdx.x"), threads);
    const bool along = access.index.affine_in("threadIdx.x") &&
                       is_one(facts, access.index.coefficient_of("threadIdx.x"), threads);
    if (across && !along) better += weight;
    if (along && !across) worse += weight;
  }
  return better > worse;
}

std::optional<Variant> blocks_side_by_side(const MoveContext& context,
                                           const KernelModel& kernel,
                                           std::int64_t count,
                                           std::string& why) {
  const KernelFacts& facts = kernel.facts;
  const auto none = [&](const char* text) { return why = text, std::nullopt; };
  if (!may_limit_grid(context, kernel, why)) return std::nullopt;
  if (facts.has_warp_ops || facts.has_assembly || facts.has_opaque)
    return none("the kernel counts on which threads form a warp");
  const LaunchPlan& plan = context.variant.launch;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (plan.cluster[axis] != Expression(1) || (axis > 0 && plan.block[axis] != Expression(1)))
      return none("the block has more than one axis, or belongs to a cluster");
  }
  if (!kernel.kernel->launch_bounds.empty()) return none("the source bounds the launch");
  if (uses_indices_elsewhere(kernel)) return none("helpers or macros use the launch's indices");
  for (const Expression& extent : {plan.grid[0], plan.block[0]}) {
    const auto names = extent.names();
    if (std::ranges::any_of(names,
                            [&](const auto& n) { return context.variant.tunables.contains(n); }))
      return none("the launch depends on a tunable");
  }
  const auto blocks = source_constant(context, kernel, plan.grid[0]),
             threads = source_constant(context, kernel, plan.block[0]);
  if (!blocks || !threads) return none("the launch is not fixed in the source");
  if (*blocks % count != 0) return none("the number of blocks is no multiple");
  if (*threads * count > std::min<std::int64_t>(1024, context.device.max_threads_per_block))
    return none("the block would be too large");
  if (!gains_side_by_side(facts, *threads))
    return none("neighbouring blocks touch no neighbouring elements");
  if (facts.has_barrier && !barriers_are_shared(facts))
    return none("not all blocks come to the same barriers");
  Rewrite rewrite(kernel);
  const std::string width = rewrite.fresh("COLUMNS");
  std::vector<Edit> edits;
  std::int64_t others = 0;
  for (const Array& array : facts.arrays) {
    if (array.space != Space::shared) continue;
    if (array.dynamic_shared || array.escapes || array.declarator == nullptr ||
        !widen(kernel, array, width, edits))
      return none("a shared array is used beyond its subscripts");
    others += 1;
  }
  if (!widen_variables(kernel, width, edits, others))
    return none("a shared variable is used beyond its value");
  if (others > 0 && static_smem_bytes(facts) * count > kStaticSmemBytes)
    return none("shared memory would be too small");
  walk_expressions(*kernel.kernel->body, [&](const Expr& e) {
    if (is_builtin(e, "threadIdx")) edits.push_back({e.span.begin, e.span.end, "threadIdx.y"});
    if (is_builtin(e, "blockDim")) edits.push_back({e.span.begin, e.span.end, "blockDim.y"});
    if (is_builtin(e, "blockIdx")) {
      const std::string sum = "blockIdx.x * " + width + " + threadIdx.x";
      edits.push_back({e.span.begin, e.span.end, e.parent == nullptr ? sum : "(" + sum + ")"});
    }
    return true;
  });
  rewrite.declare_first("constexpr int " + width + " = " + std::to_string(count) +
                        ";  // neighbouring blocks' work, side by side\n");
  rewrite.add(std::move(edits));
  Variant out = rewrite.finish(context.variant);
  out.launch.grid[0] = Expression(*blocks / count);
  out.launch.block = {Expression(count), plan.block[0], Expression(1)};
  return out;
}

}  // namespace warpath
