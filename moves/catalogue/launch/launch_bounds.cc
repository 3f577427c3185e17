#include <algorithm>

#include "moves/edit/device_limits.h"
#include "moves/edit/sites.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"
#include "register_moves.h"

namespace warpath {
namespace {

using namespace model;

constexpr std::int64_t kMostResidentBlocks = 16, kThreadsPerMultiprocessor = 2048;

/// The block's threads as C text: a number, or tunables that the compiler sees as macros. nullopt
/// if sizes of the spec enter.
std::optional<std::string> threads_text(const MoveContext& context) {
  std::string out;
  std::int64_t number = 1;
  for (const Expression& extent : context.variant.launch.block) {
    if (extent.is_constant()) {
      number *= extent.evaluate({}, "block");
      continue;
    }
    for (const std::string& name : extent.names()) {
      if (!context.variant.tunables.contains(name)) return std::nullopt;
    }
    for (const std::string_view call :
         {"ceil_div", "min", "max", "abs", "align_up", " or ", " and ", "not "}) {
      if (extent.text().find(call) != std::string::npos) return std::nullopt;
    }
    const bool plain = extent.names().size() == 1 && *extent.names().begin() == extent.text();
    out += (out.empty() ? "" : " * ") + (plain ? extent.text() : "(" + extent.text() + ")");
  }
  if (out.empty()) return std::to_string(number);
  return number == 1 ? out : out + " * " + std::to_string(number);
}

std::int64_t threads_of(const MoveContext& context) {
  std::int64_t threads = 1;
  const Bindings values =
      context.spec.bindings(*workloads_of(context).front(), context.variant.tunables);
  for (const Expression& extent : context.variant.launch.block)
    threads *= extent.evaluate(values, "block");
  return std::max<std::int64_t>(threads, 1);
}

/// __launch_bounds__(threads, min_blocks): lets the compiler spend registers for the block that is
/// launched, or keeps them down so that `min_blocks` blocks fit on a multiprocessor. min_blocks = 0
/// takes the bounds away.
class LaunchBounds final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "launch_bounds"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::vector<MoveInstance> out;
    std::string why;
    for (const std::int64_t blocks : {1, 2, 4, 3, 8, 0}) {
      MoveInstance instance{
          std::string(name()), std::string(kLaunchSite), {{"min_blocks", blocks}}};
      if (apply(context, instance, why)) out.push_back(std::move(instance));
    }
    return out;
  }

  [[nodiscard]] std::vector<Tunable> domain(const MoveContext& context,
                                            std::string_view site) const override {
    if (site != kLaunchSite || !threads_text(context)) return {};
    Tunable t{"min_blocks", {}, 0, "blocks that must fit on a multiprocessor; 0: no bounds"};
    for (std::int64_t b = 0;
         b <= std::min(kMostResidentBlocks, kThreadsPerMultiprocessor / threads_of(context)); ++b)
      t.values.push_back(b);
    return {t};
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (wanted.site != kLaunchSite)
      return why = "launch_bounds applies to the launch only", std::nullopt;
    if (!takes(wanted, {"min_blocks"}, why)) return std::nullopt;
    if (has_own_plans(context.spec))
      return why = "workloads have launch plans of their own", std::nullopt;
    const std::int64_t blocks = wanted.parameters.at("min_blocks");
    const auto threads = threads_text(context);
    if (!threads) return why = "the block's size is no constant", std::nullopt;
    if (blocks < 0 || blocks > kMostResidentBlocks ||
        blocks * threads_of(context) > kThreadsPerMultiprocessor) {
      return why = std::to_string(blocks) + " blocks do not fit on a multiprocessor", std::nullopt;
    }
    if (blocks > 0 && threads_of(context) < kWarp)
      return why = "a block of less than a warp has all the registers it can name", std::nullopt;
    const auto model = model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    const Function& kernel = *model->kernel;
    const std::string text =
        "__launch_bounds__(" + *threads + (blocks > 1 ? ", " + std::to_string(blocks) : "") + ")";
    Rewrite rewrite(*model);
    if (!kernel.launch_bounds.empty()) {
      if (blocks > 0 && model->unit.plain_text(kernel.launch_bounds) == text)
        return why = "the kernel has these bounds already", std::nullopt;
      Span old = kernel.launch_bounds;
      if (blocks == 0 && old.end < model->unit.source().size() &&
          model->unit.source()[old.end] == ' ')
        ++old.end;
      rewrite.replace(old, blocks == 0 ? "" : text);
    } else {
      if (blocks == 0) return why = "the kernel has no bounds", std::nullopt;
      rewrite.insert(kernel.name_span.begin, text + " ");
    }
    return rewrite.finish(context.variant);
  }
};

}  // namespace

void register_move_launch_bounds(MoveRegistry& registry) {
  registry.add("launch_bounds", "__launch_bounds__ for the block that is launched",
               [] { return std::make_unique<LaunchBounds>(); });
}

}  // namespace warpath
