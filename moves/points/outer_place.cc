#include "moves/points/outer_place.h"

#include <algorithm>
#include <vector>

#include "moves/edit/span_rewrite.h"
#include "moves/launch/grid_stride.h"
#include "moves/launch/plan_text.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

constexpr std::int64_t kMostBlocksBeside = 65535;
/// Of the elements of an outer index, the part that may be added as idle threads.
constexpr std::int64_t kIdlePart = 8;

LaunchNumbers numbers_of(const MoveContext& context, const Workload& workload) {
  return evaluate(launch_for(context.spec, context.variant, workload),
                  context.spec.bindings(workload, context.variant.tunables), "launch plan");
}

/// The index is declared alone, with its type, and is all that a thread knows of its place.
std::string index_obstacle(const KernelModel& kernel, const OuterAxis& axis) {
  const Declarator& index = *axis.index->declarator;
  if (index.stmt->parent != kernel.kernel->body || index.stmt->declarators.size() != 1 ||
      index.value() == nullptr || index.reference || index.has(kAuto))
    return "the index is not declared with its type alone";
  const std::string type = kernel.unit.plain_text(index.type);
  if (!is_integer_type(type) || size_of_type(type) < 4) return "the index is no integer";
  bool other = false;
  walk_expressions(*kernel.kernel->body, [&](const Expr& e) {
    other = other || (!is_inside(e, *index.stmt) &&
                      (e.is_name("threadIdx") || e.is_name("blockIdx") || e.is_name("blockDim")));
    return !other;
  });
  return other ? "the kernel uses its place in the launch beyond its index" : "";
}

/// Whether groups of outer indices may be blocks of their own; nullopt if there are too few.
std::optional<bool> stands_beside(const MoveContext& context,
                                  const KernelModel& kernel,
                                  const OuterAxis& axis,
                                  std::int64_t count,
                                  std::string& why) {
  bool beside = true;
  for (const Workload* w : workloads_of(context)) {
    const Bindings values = kernel.facts.values(*w);
    const auto elements = kernel.facts.resolved(axis.inner).evaluate(values),
               outer = kernel.facts.resolved(axis.extent).evaluate(values);
    if (!elements || !outer || *outer < count)
      return why = "there are fewer outer indices than points", std::nullopt;
    if (*elements < kLeastInner) return why = "an outer index has too few elements", std::nullopt;
    const std::int64_t block = numbers_of(context, *w).block[0] * axis.pack,
                       threads = (*elements + block - 1) / block * block,
                       groups = (*outer + count - 1) / count;
    beside = beside && groups <= kMostBlocksBeside &&
             (groups == 1 || threads <= *elements + *elements / kIdlePart);
  }
  return beside;
}

std::optional<OuterPlace> place_flat(const MoveContext& context,
                                     const KernelModel& kernel,
                                     const OuterAxis& axis,
                                     std::int64_t count,
                                     std::string& why) {
  why = index_obstacle(kernel, axis);
  if (!why.empty()) return std::nullopt;
  OuterPlace out;
  out.type = kernel.unit.plain_text(axis.index->declarator->type);
  const auto inner = plan_text(context, kernel, axis.inner),
             extent = plan_text(context, kernel, axis.extent);
  if (!inner || !extent)
    return why = "the sizes are no expressions over the arguments", std::nullopt;
  if (size_of_type(out.type) < 8 &&
      !stays_small(context, kernel.facts, (axis.extent + Polynomial(count)) * axis.inner))
    return why = "a 32-bit index could overflow", std::nullopt;
  const auto beside = stands_beside(context, kernel, axis, count, why);
  if (!beside) return std::nullopt;
  out.beside = *beside;
  out.extent = axis.extent.factor_text();
  const auto outer = axis.extent.constant();
  out.exact = outer && *outer % count == 0;
  out.launch = context.variant.launch;
  auto& grid = out.launch.grid;
  const std::string groups = "ceil_div(" + *extent + ", " + std::to_string(count) + ")",
                    threads = as_factor(out.launch.block[0].text()),
                    block = axis.pack == 1 ? threads : threads + " * " + std::to_string(axis.pack),
                    all = out.beside ? *inner : groups + " * (" + *inner + ")";
  grid[0] = Expression::parse("ceil_div(" + all + ", " + block + ")", "launch plan");
  if (out.beside) grid[1] = Expression::parse(groups, "launch plan");
  return out;
}

std::optional<OuterPlace> place_blocks(const MoveContext& context,
                                       const OuterAxis& axis,
                                       std::int64_t count,
                                       std::string& why) {
  const auto at = static_cast<std::size_t>(axis.grid_axis);
  for (const Workload* w : workloads_of(context)) {
    if (numbers_of(context, *w).grid[at] < count)
      return why = "there are fewer outer indices than points", std::nullopt;
  }
  if (!axis.extent.is_known())
    return why = "the number of blocks cannot be said in the kernel", std::nullopt;
  OuterPlace out;
  out.type = "int", out.extent = axis.extent.text();
  const auto blocks = axis.extent.constant();
  out.exact = blocks && *blocks % count == 0;
  out.launch = context.variant.launch;
  out.launch.grid[at] = divided(out.launch.grid[at], count);
  return out;
}

}  // namespace

std::optional<OuterPlace> place_outer(const MoveContext& context,
                                      const KernelModel& kernel,
                                      const OuterAxis& axis,
                                      std::int64_t count,
                                      std::string& why) {
  return axis.grid_axis < 0 ? place_flat(context, kernel, axis, count, why)
                            : place_blocks(context, axis, count, why);
}

Polynomial blocks_along(const MoveContext& context, const KernelModel& kernel, std::size_t axis) {
  const Expression& grid = context.variant.launch.grid[axis];
  const auto names = grid.names();
  // A number that depends on a tunable would be stale after its next change.
  const bool tunable = std::ranges::any_of(
      names, [&](const auto& name) { return context.variant.tunables.contains(name); });
  if (tunable) return Polynomial::unknown();
  if (const auto blocks = source_constant(context, kernel, grid)) return *blocks;
  const std::vector<std::string> written = kernel.facts.names_written(*kernel.kernel->body);
  for (const Declarator* p : kernel.kernel->parameters) {
    const ArgSpec* const arg = argument_of(context.spec, *kernel.kernel, *p);
    const bool kept = !p->name.empty() && std::ranges::find(written, p->name) == written.end();
    if (kept && arg != nullptr && arg->name == grid.text() && arg->type == ArgType::integer)
      return Polynomial::name(p->name);
  }
  return Polynomial::unknown();
}

std::string outer_obstacle(const MoveContext& context, const KernelModel& kernel) {
  const KernelFacts& facts = kernel.facts;
  if (has_own_plans(context.spec)) return "workloads have launch plans of their own";
  if (auto veto = facts.threads_veto(); !veto.empty()) return veto;
  for (const Array& array : facts.arrays) {
    if (array.space == Space::shared) return "the kernel uses shared memory";
    if (array.escapes) return "the address of " + array.name + " leaves the kernel";
  }
  for (const auto& loop : facts.loops) {
    if (!loop->trip_count) return "a point takes a loop of unknown length";
  }
  for (const Expression& cluster : context.variant.launch.cluster) {
    if (!(cluster == Expression(1))) return "the blocks form clusters";
  }
  return mentions(*kernel.kernel->body, "gridDim") ? "the kernel asks for its grid" : "";
}

}  // namespace warpath
