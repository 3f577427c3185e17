#include <algorithm>

#include "moves/register_moves.h"
#include "moves/repeated_body.h"
#include "moves/span_rewrite.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kThreadSite = "thread";
constexpr std::string_view kBlockSite = "block";
constexpr std::int64_t kBlocksPerMultiprocessor[] = {1, 2, 4, 8, 16, 32};

/// An expression of the launch plan as C text over the kernel's parameters; nullopt if it has names or calls that C lacks there.
std::optional<std::string> c_text(const MoveContext& context, const Function& kernel, const Expression& expression) {
  for (const std::string& name : expression.names()) {
    const Declarator* const parameter = kernel.parameter(name);
    const ArgSpec* const arg = parameter == nullptr ? nullptr : argument_of(context.spec, kernel, *parameter);
    if ((arg == nullptr || arg->name != name) && !context.variant.tunables.contains(name)) return std::nullopt;
  }
  const std::string& text = expression.text();
  if (text.starts_with("ceil_div(") && text.ends_with(")")) {
    const std::string inside = text.substr(9, text.size() - 10);
    const std::size_t comma = inside.find(", ");
    if (comma == std::string::npos || inside.find_first_of("(),", comma + 2) != std::string::npos || inside.find_first_of("()") < comma) return std::nullopt;
    const std::string a = inside.substr(0, comma), b = inside.substr(comma + 2);
    return "(" + a + " + " + b + " - 1) / " + (b.find(' ') == std::string::npos ? b : "(" + b + ")");
  }
  for (const std::string_view call : {"ceil_div", "min(", "max(", "abs(", "align_up", "?", " or ", " and ", "not "}) {
    if (text.find(call) != std::string::npos) return std::nullopt;
  }
  return text;
}

/// A grid that just fills the device; its threads or blocks stride over the work. Site "thread": each thread of a kernel with a
/// guarded index takes every gridDim.x * blockDim.x-th item; "block": each block takes every gridDim.x-th block's work.
class PersistentGrid final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "persistent_grid"; }
  [[nodiscard]] std::vector<std::string> aliases() const override { return {"M15"}; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return out;
    for (const std::string_view site : {kThreadSite, kBlockSite}) {
      for (const std::int64_t blocks : {8, 4, 2, 16, 1, 32}) {
        MoveInstance instance{std::string(name()), std::string(site), {{"blocks_per_sm", blocks}}};
        if (rewritten(context, *model, instance, why)) out.push_back(std::move(instance));
      }
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&, std::string_view site) const override {
    if (site != kThreadSite && site != kBlockSite) return {};
    return {Tunable{"blocks_per_sm", {std::begin(kBlocksPerMultiprocessor), std::end(kBlocksPerMultiprocessor)}, 8, "blocks of the grid for each multiprocessor"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context, const MoveInstance& wanted, std::string& why) const override {
    if (!takes(wanted, {"blocks_per_sm"}, why)) return std::nullopt;
    const std::int64_t blocks = wanted.parameters.at("blocks_per_sm");
    if (std::find(std::begin(kBlocksPerMultiprocessor), std::end(kBlocksPerMultiprocessor), blocks) == std::end(kBlocksPerMultiprocessor)) {
      return why = "blocks_per_sm is a power of two up to 32", std::nullopt;
    }
    const auto model = model_kernel(context.spec, context.variant, why);
    return model == nullptr ? std::nullopt : rewritten(context, *model, wanted, why);
  }

 private:
  static std::optional<Variant> rewritten(const MoveContext& context, const KernelModel& model, const MoveInstance& wanted, std::string& why) {
    if (has_own_plans(context.spec)) return why = "workloads have launch plans of their own", std::nullopt;
    if (!model.facts.veto.empty()) return why = model.facts.veto, std::nullopt;
    if (mentions(*model.kernel->body, "gridDim")) return why = "the kernel asks for its grid already", std::nullopt;
    const std::int64_t grid = wanted.parameters.at("blocks_per_sm") * std::max(context.device.multiprocessors, 1);
    auto out = wanted.site == kThreadSite  ? over_threads(context, model, grid, why)
               : wanted.site == kBlockSite ? over_blocks(context, model, why)
                                           : (why = "persistent_grid applies to thread or block", std::nullopt);
    if (!out) return std::nullopt;
    out->launch.grid[0] = Expression::parse("min(" + context.variant.launch.grid[0].text() + ", " + std::to_string(grid) + ")", "launch plan");
    return out;
  }

  static std::optional<Variant> over_threads(const MoveContext& context, const KernelModel& model, std::int64_t grid, std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    const auto body = guarded_body(facts, 0, why);
    if (!body) return std::nullopt;
    const Declarator& index = *body->index->declarator;
    if (!body->only_bound) return why = "the guard is more than a bound of the thread's index", std::nullopt;
    if (index.value() == nullptr || index.stmt->declarators.size() != 1) return why = "the thread's index shares its declaration", std::nullopt;
    if (index.has(kConst)) return why = "the thread's index is const", std::nullopt;
    for (const Stmt* s : body->statements) {
      if (jumps_out(*s) || joins_threads(*s)) return why = "the body leaves early or joins threads", std::nullopt;
    }
    if (const std::string carried = carried_variable(model, body->statements); !carried.empty()) return why = carried + " would go from one item to the next", std::nullopt;
    const std::string type = unit.plain_text(index.type), name = body->index->name;
    const bool wide = size_of_type(type) >= 8;
    for (const Workload* w : workloads_of(context)) {
      const Bindings values = facts.values(*w);
      const auto items = body->index->bound->evaluate(values);
      const auto block = context.variant.launch.block[0].evaluate(context.spec.bindings(*w, context.variant.tunables), "block");
      if (!wide && (!items || *items + grid * block > INT32_MAX)) return why = "a 32-bit index could overflow on its last step", std::nullopt;
    }
    std::string moved;
    Rewrite rewrite(model);
    std::vector<std::string> names{name};
    for (const Stmt* s : facts.kernel->body->children) {
      if (s == body->guard) break;
      if (s == index.stmt || !s->is(StmtKind::declaration)) continue;
      if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return mentions(*s, n); })) continue;
      for (const Declarator* d : s->declarators) names.emplace_back(d->name);
      moved += std::string(unit.plain_text(s->span)) + "\n";
      rewrite.replace(whole_lines(unit, s->span), "");
    }
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (mentions(*body->guard->expr, names[i])) return why = "the guard needs more than the thread's index", std::nullopt;
    }
    const std::string header = "for (" + type + " " + name + " = " + std::string(unit.plain_text(index.value()->outer)) + "; " + name + " < " +
                               bound_text(unit, *body) + "; " + name + " += " + (wide ? "(" + type + ")" : "") + "gridDim.x * blockDim.x)";
    const std::string indent = indentation(unit, body->guard->span.begin), step = indent_unit(unit);
    rewrite.replace(whole_lines(unit, index.stmt->span), "");
    if (!body->early_exit) {
      rewrite.replace(body->guard->header, header);
      if (!moved.empty()) {
        if (!body->guard->body->is(StmtKind::block)) return why = "the guarded statement has no braces", std::nullopt;
        std::string text = "\n" + indented(moved, indent + step);
        text.pop_back();
        rewrite.insert(body->guard->body->span.begin + 1, text);
      }
    } else {
      std::string text = moved;
      const Span rest{body->guard->span.end, facts.kernel->body->span.end - 1};
      std::string inner = unindented(substituted(unit, rest, {}));
      while (inner.starts_with('\n')) inner.erase(0, 1);
      while (inner.ends_with('\n') || inner.ends_with(' ')) inner.pop_back();
      rewrite.replace({body->guard->span.begin, rest.end}, header + " {\n" + indented(text + inner + "\n", indent + step) + indent + "}\n");
    }
    return rewrite.finish(context.variant);
  }

  static std::optional<Variant> over_blocks(const MoveContext& context, const KernelModel& model, std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    const Function& kernel = *model.kernel;
    if (!facts.has_barrier && !facts.has_warp_ops) return why = "threads do not work together: site thread fits better", std::nullopt;
    const auto items = c_text(context, kernel, context.variant.launch.grid[0]);
    if (!items) return why = "the number of blocks cannot be said in the kernel", std::nullopt;
    if (!mentions(*kernel.body, "blockIdx")) return why = "the kernel does not ask for its block", std::nullopt;
    for (const Array& array : facts.arrays) {
      if (array.dynamic_shared) return why = "dynamic shared memory is declared once", std::nullopt;
    }
    Rewrite rewrite(model);
    const std::string block = rewrite.fresh("block");
    std::vector<Edit> edits;
    bool blocked = false;
    walk(*kernel.body, [&](const Stmt& s) {
      if (!s.is(StmtKind::return_)) return true;
      if (enclosing_loop(s) != nullptr || s.expr != nullptr || (facts.has_barrier && !facts.uniformly_reached(s))) blocked = true;
      edits.push_back({s.span.begin, s.span.end, "continue;"});
      return true;
    });
    if (blocked) return why = "threads leave the kernel at different places", std::nullopt;
    walk_expressions(*kernel.body, [&](const Expr& e) {
      if (e.is(ExprKind::member) && e.name == "x" && e.arg(0).is_name("blockIdx")) edits.push_back({e.span.begin, e.span.end, block});
      return true;
    });
    if (edits.empty()) return why = "the kernel does not ask for its block", std::nullopt;
    const std::string indent = indentation(unit, kernel.span.begin) + indent_unit(unit);
    std::string text = body_text(unit, *kernel.body, edits);
    if (facts.has_barrier) text += "__syncthreads();  // shared memory is free for the next one\n";
    rewrite.replace(kernel.body->span, "{\n" + indent + "for (int " + block + " = blockIdx.x; " + block + " < " + *items + "; " + block + " += gridDim.x) {\n" +
                                           indented(text, indent + indent_unit(unit)) + indent + "}\n}");
    return rewrite.finish(context.variant);
  }
};

}  // namespace

void register_move_persistent_grid(MoveRegistry& registry) {
  registry.add("persistent_grid", "a grid that fills the device and strides over the work", [] { return std::make_unique<PersistentGrid>(); });
}

}  // namespace warpath
