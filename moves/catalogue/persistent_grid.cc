#include <algorithm>

#include "moves/edit/grid_stride.h"
#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::string_view kBlockSite = "block";

/// An expression of the launch plan as C text over the kernel's parameters; nullopt if it has names
/// or calls that C lacks there.
std::optional<std::string> c_text(const MoveContext& context,
                                  const Function& kernel,
                                  const Expression& expression) {
  for (const std::string& name : expression.names()) {
    const Declarator* const parameter = kernel.parameter(name);
    const ArgSpec* const arg =
        parameter == nullptr ? nullptr : argument_of(context.spec, kernel, *parameter);
    if ((arg == nullptr || arg->name != name) && !context.variant.tunables.contains(name))
      return std::nullopt;
  }
  const std::string& text = expression.text();
  if (text.starts_with("ceil_div(") && text.ends_with(")")) {
    const std::string inside = text.substr(9, text.size() - 10);
    const std::size_t comma = inside.find(", ");
    if (comma == std::string::npos || inside.find_first_of("(),", comma + 2) != std::string::npos ||
        inside.find_first_of("()") < comma)
      return std::nullopt;
    const std::string a = inside.substr(0, comma), b = inside.substr(comma + 2);
    return "(" + a + " + " + b + " - 1) / " +
           (b.find(' ') == std::string::npos ? b : "(" + b + ")");
  }
  for (const std::string_view call :
       {"ceil_div", "min(", "max(", "abs(", "align_up", "?", " or ", " and ", "not "}) {
    if (text.find(call) != std::string::npos) return std::nullopt;
  }
  return text;
}

/// A grid that just fills the device; its threads or blocks stride over the work. Site "thread":
/// each thread of a kernel with a guarded index takes every gridDim.x * blockDim.x-th item;
/// "block": each block takes every gridDim.x-th block's work.
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

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext&,
                                            std::string_view site) const override {
    if (site != kThreadSite && site != kBlockSite) return {};
    return {Tunable{"blocks_per_sm",
                    {std::begin(kBlocksPerMultiprocessor), std::end(kBlocksPerMultiprocessor)},
                    8,
                    "blocks of the grid for each multiprocessor"}};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!takes(wanted, {"blocks_per_sm"}, why)) return std::nullopt;
    const std::int64_t blocks = wanted.parameters.at("blocks_per_sm");
    if (std::find(std::begin(kBlocksPerMultiprocessor), std::end(kBlocksPerMultiprocessor),
                  blocks) == std::end(kBlocksPerMultiprocessor)) {
      return why = "blocks_per_sm is a power of two up to 32", std::nullopt;
    }
    const auto model = model_kernel(context.spec, context.variant, why);
    return model == nullptr ? std::nullopt : rewritten(context, *model, wanted, why);
  }

 private:
  static std::optional<Variant> rewritten(const MoveContext& context,
                                          const KernelModel& model,
                                          const MoveInstance& wanted,
                                          std::string& why) {
    const std::int64_t blocks_per_sm = wanted.parameters.at("blocks_per_sm");
    if (wanted.site == kThreadSite) return strided_over_threads(context, model, blocks_per_sm, why);
    if (wanted.site != kBlockSite)
      return why = "persistent_grid applies to thread or block", std::nullopt;
    if (!may_limit_grid(context, model, why)) return std::nullopt;
    auto out = over_blocks(context, model, why);
    if (out) limit_grid(*out, context, blocks_per_sm);
    return out;
  }

  static std::optional<Variant> over_blocks(const MoveContext& context,
                                            const KernelModel& model,
                                            std::string& why) {
    const KernelFacts& facts = model.facts;
    const Unit& unit = model.unit;
    const Function& kernel = *model.kernel;
    if (!facts.has_barrier && !facts.has_warp_ops)
      return why = "threads do not work together: site thread fits better", std::nullopt;
    const auto items = c_text(context, kernel, context.variant.launch.grid[0]);
    if (!items) return why = "the number of blocks cannot be said in the kernel", std::nullopt;
    if (!mentions(*kernel.body, "blockIdx"))
      return why = "the kernel does not ask for its block", std::nullopt;
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
    return rewrite.finish(context.variant);
  }
};

}  // namespace

void register_move_persistent_grid(MoveRegistry& registry) {
  registry.add("persistent_grid", "a grid that fills the device and strides over the work",
               [] { return std::make_unique<PersistentGrid>(); });
}

}  // namespace warpath
