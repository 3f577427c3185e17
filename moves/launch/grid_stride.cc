#include "moves/launch/grid_stride.h"

#include <algorithm>

#include "moves/edit/repeated_body.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "moves/syntax/words.h"

namespace warpath {

using namespace model;

namespace {

/// The position behind the parenthesis that closes the one at `open`.
std::size_t behind_parentheses(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return text.size();
}

/// `text` with ceil_div(a, b) as (a + b - 1) / b, innermost ones too; `large` gets every a + b - 1.
std::string with_divisions(std::string text, std::vector<std::string>& large) {
  constexpr std::string_view kCall = "ceil_div(";
  for (std::size_t at = text.rfind(kCall); at != std::string::npos; at = text.rfind(kCall)) {
    const std::size_t first = at + kCall.size(), end = behind_parentheses(text, first - 1);
    std::size_t comma = first;
    for (std::size_t depth = 0; comma < end && (depth > 0 || text[comma] != ','); ++comma) {
      if (text[comma] == '(') ++depth;
      if (text[comma] == ')') --depth;
    }
    const std::string a = text.substr(first, comma - first),
                      b = text.substr(comma + 2, end - comma - 3);
    const std::string by = b.find(' ') == std::string::npos ? b : "(" + b + ")";
    large.push_back(a + " + " + b + " - 1");
    const bool whole = at == 0 && end == text.size();
    text.replace(at, end - at,
                 (whole ? "" : "(") + ("(" + a + " + " + b + " - 1) / " + by) + (whole ? "" : ")"));
  }
  return text;
}

}  // namespace

std::optional<std::int64_t> source_constant(const MoveContext& context,
                                            const KernelModel& model,
                                            const Expression& expression) {
  Bindings values(context.variant.tunables.begin(), context.variant.tunables.end());
  for (const std::string& name : expression.names()) {
    const Declarator* const d =
        visible(model.unit, *model.kernel, name, model.kernel->body->span.end - 1);
    const auto number = d != nullptr && d->is_constant() && !d->is_array() && d->value() != nullptr
                            ? constant_value(model.unit, *d->value())
                            : std::nullopt;
    if (number) values[name] = *number;
    if (!values.contains(name)) return std::nullopt;
  }
  return expression.evaluate(values, "launch plan");
}

std::optional<std::string> source_text(const MoveContext& context,
                                       const KernelModel& model,
                                       const Expression& expression) {
  const auto names = expression.names();
  const bool tuned = std::ranges::any_of(
      names, [&](const std::string& name) { return context.variant.tunables.contains(name); });
  const auto number = source_constant(context, model, expression);
  if (number && !tuned) return std::to_string(*number);
  const Function& kernel = *model.kernel;
  for (const std::string& name : names) {
    const Declarator* const parameter = kernel.parameter(name);
    const ArgSpec* const arg =
        parameter == nullptr ? nullptr : argument_of(context.spec, kernel, *parameter);
    if ((arg == nullptr || arg->name != name) && !context.variant.tunables.contains(name))
      return std::nullopt;
  }
  std::vector<std::string> large;
  std::string out = with_divisions(expression.text(), large);
  for (const std::string_view call :
       {"ceil_div", "min(", "max(", "abs(", "align_up", "?", " or ", " and ", "not "}) {
    if (out.find(call) != std::string::npos) return std::nullopt;
  }
  for (const Workload* w : workloads_of(context)) {
    const Bindings values = context.spec.bindings(*w, context.variant.tunables);
    for (const std::string& text : large) {
      if (Expression::parse(text, "blocks").evaluate(values, "blocks") > INT32_MAX)
        return std::nullopt;
    }
  }
  return out;
}

bool waits_for_others(const KernelFacts& facts) {
  const auto others_write = [&](int which) {
    if (facts.arrays[static_cast<std::size_t>(which)].space != Space::global) return false;
    for (std::size_t i = 0; i < facts.arrays.size(); ++i) {
      const int other = static_cast<int>(i);
      const bool same = other == which || facts.may_alias(which, other);
      if (same && (facts.arrays[i].written || facts.arrays[i].atomic)) return true;
    }
    return false;
  };
  return std::ranges::any_of(facts.loops, [&](const auto& loop) {
    return !loop->counted &&
           std::ranges::any_of(facts.accesses_in(*loop->stmt), [&](const Access* access) {
             return access->kind != AccessKind::write && others_write(access->array);
           });
  });
}

bool may_limit_grid(const MoveContext& context, const KernelModel& model, std::string& why) {
  if (has_own_plans(context.spec)) return why = "workloads have launch plans of their own", false;
  if (!model.facts.veto.empty()) return why = model.facts.veto, false;
  if (mentions(*model.kernel->body, "gridDim"))
    return why = "the kernel asks for its grid already", false;
  if (waits_for_others(model.facts)) return why = "a loop waits for what others write", false;
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

std::optional<Variant> strided_over_blocks(const MoveContext& context,
                                           const KernelModel& model,
                                           std::int64_t blocks_per_sm,
                                           std::string& why) {
  if (!may_limit_grid(context, model, why)) return std::nullopt;
  const KernelFacts& facts = model.facts;
  const Unit& unit = model.unit;
  const Function& kernel = *model.kernel;
  if (!facts.has_barrier && !facts.has_warp_ops)
    return why = "threads do not work together: site thread fits better", std::nullopt;
  if (facts.has_assembly) return why = "inline assembly joins the threads", std::nullopt;
  const auto items = source_text(context, model, context.variant.launch.grid[0]);
  if (!items) return why = "the number of blocks cannot be said in the kernel", std::nullopt;
  if (!mentions(*kernel.body, "blockIdx"))
    return why = "the kernel does not ask for its block", std::nullopt;
  for (const std::string& name : facts.names_written(*kernel.body)) {
    if (kernel.parameter(name) != nullptr)
      return why = name + " would go from one block to the next", std::nullopt;
  }
  for (const Array& array : facts.arrays) {
    if (array.dynamic_shared) return why = "dynamic shared memory is declared once", std::nullopt;
  }
  Rewrite rewrite(model);
  const std::string block = rewrite.fresh("block");
  std::vector<Edit> edits;
  bool blocked = false;
  walk(*kernel.body, [&](const Stmt& s) {
    if (!s.is(StmtKind::return_)) return true;
    if (enclosing_loop(s) != nullptr || s.expr != nullptr ||
        (facts.has_barrier && !facts.uniformly_reached(s)))
      blocked = true;
    edits.push_back({s.span.begin, s.span.end, "continue;"});
    return true;
  });
  if (blocked) return why = "threads leave the kernel at different places", std::nullopt;
  walk_expressions(*kernel.body, [&](const Expr& e) {
    if (e.is(ExprKind::member) && e.name == "x" && e.arg(0).is_name("blockIdx"))
      edits.push_back({e.span.begin, e.span.end, block});
    return true;
  });
  if (edits.empty()) return why = "the kernel does not ask for its block", std::nullopt;
  const std::string indent = indentation(unit, kernel.span.begin) + indent_unit(unit);
  std::string text = body_text(unit, *kernel.body, edits);
  if (facts.has_barrier) text += "__syncthreads();  // shared memory is free for the next one\n";
  rewrite.replace(kernel.body->span,
                  "{\n" + indent + "for (int " + block + " = blockIdx.x; " + block + " < " +
                      *items + "; " + block + " += gridDim.x) {\n" +
                      indented(text, indent + indent_unit(unit)) + indent + "}\n}");
  Variant out = rewrite.finish(context.variant);
  limit_grid(out, context, blocks_per_sm);
  return out;
}

}  // namespace warpath
