#include "moves/edit/grid_stride.h"

#include <algorithm>

#include "moves/edit/repeated_body.h"
#include "moves/edit/span_rewrite.h"

namespace warpath {

using namespace model;

bool may_limit_grid(const MoveContext& context, const KernelModel& model, std::string& why) {
  if (has_own_plans(context.spec)) return why = "workloads have launch plans of their own", false;
  if (!model.facts.veto.empty()) return why = model.facts.veto, false;
  if (mentions(*model.kernel->body, "gridDim"))
    return why = "the kernel asks for its grid already", false;
  return true;
}

void limit_grid(Variant& variant, const MoveContext& context, std::int64_t blocks_per_sm) {
  const std::int64_t blocks = blocks_per_sm * std::max(context.device.multiprocessors, 1);
  Expression& grid = variant.launch.grid[0];
  grid =
      Expression::parse("min(" + grid.text() + ", " + std::to_string(blocks) + ")", "launch plan");
}

std::optional<Variant> strided_over_threads(const MoveContext& context,
                                            const KernelModel& model,
                                            std::int64_t blocks_per_sm,
                                            std::string& why) {
  if (!may_limit_grid(context, model, why)) return std::nullopt;
  const std::int64_t grid = blocks_per_sm * std::max(context.device.multiprocessors, 1);
  const KernelFacts& facts = model.facts;
  const Unit& unit = model.unit;
  const auto body = guarded_body(facts, 0, why);
  if (!body) return std::nullopt;
  const Declarator& index = *body->index->declarator;
  if (!body->only_bound)
    return why = "the guard is more than a bound of the thread's index", std::nullopt;
  if (index.value() == nullptr || index.stmt->declarators.size() != 1)
    return why = "the thread's index shares its declaration", std::nullopt;
  for (const Stmt* s : body->statements) {
    if (jumps_out(*s) || joins_threads(*s))
      return why = "the body leaves early or joins threads", std::nullopt;
  }
  if (const std::string carried = carried_variable(model, body->statements); !carried.empty())
    return why = carried + " would go from one item to the next", std::nullopt;
  const std::string type = unit.plain_text(index.type), name = body->index->name;
  const bool wide = size_of_type(type) >= 8;
  for (const Workload* w : workloads_of(context)) {
    const Bindings values = facts.values(*w);
    const auto items = body->index->bound->evaluate(values);
    const auto block = context.variant.launch.block[0].evaluate(
        context.spec.bindings(*w, context.variant.tunables), "block");
    if (!wide && (!items || *items + grid * block > INT32_MAX))
      return why = "a 32-bit index could overflow on its last step", std::nullopt;
  }
  std::string moved;
  Rewrite rewrite(model);
  std::vector<std::string> names{name};
  for (const Stmt* s : facts.kernel->body->children) {
    if (s == body->guard) break;
    if (s == index.stmt || !s->is(StmtKind::declaration)) continue;
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& n) { return mentions(*s, n); }))
      continue;
    for (const Declarator* d : s->declarators) names.emplace_back(d->name);
    moved += std::string(unit.plain_text(s->span)) + "\n";
    rewrite.replace(whole_lines(unit, s->span), "");
  }
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (mentions(*body->guard->expr, names[i]))
      return why = "the guard needs more than the thread's index", std::nullopt;
  }
  const std::string header = "for (" + type + " " + name + " = " +
                             std::string(unit.plain_text(index.value()->outer)) + "; " + name +
                             " < " + bound_text(unit, *body) + "; " + name +
                             " += " + (wide ? "(" + type + ")" : "") + "gridDim.x * blockDim.x)";
  const std::string indent = indentation(unit, body->guard->span.begin), step = indent_unit(unit);
  rewrite.replace(whole_lines(unit, index.stmt->span), "");
  if (!body->early_exit) {
    rewrite.replace(body->guard->header, header);
    if (!moved.empty()) {
      if (!body->guard->body->is(StmtKind::block))
        return why = "the guarded statement has no braces", std::nullopt;
      std::string text = "\n" + indented(moved, indent + step);
      text.pop_back();
      rewrite.insert(body->guard->body->span.begin + 1, text);
    }
  } else {
    const Span rest{body->guard->span.end, facts.kernel->body->span.end - 1};
    std::string inner = unindented(substituted(unit, rest, {}));
    while (inner.starts_with('\n')) inner.erase(0, 1);
    while (inner.ends_with('\n') || inner.ends_with(' ')) inner.pop_back();
    rewrite.replace(
        {body->guard->span.begin, rest.end},
        header + " {\n" + indented(moved + inner + "\n", indent + step) + indent + "}\n");
  }
  Variant out = rewrite.finish(context.variant);
  limit_grid(out, context, blocks_per_sm);
  return out;
}

}  // namespace warpath
