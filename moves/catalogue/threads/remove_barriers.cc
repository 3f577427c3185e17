#include <memory>
#include <utility>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/blocks/spare_barriers.h"
#include "moves/edit/known_shape.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax_query.h"
#include "register_moves.h"

namespace warpath {
namespace {

std::string site_of(const SpareBarrier& spare) {
  return "barrier:" + std::to_string(spare.number);
}

/// Takes away a barrier of the block that orders nothing (spare_barriers.h). Where only threads of
/// one warp meet, the warp's barrier stays. Site "barrier:K" of the kernel's text, or "kernel" for
/// all that may go together.
class RemoveBarriers final : public Move {
 public:
  [[nodiscard]] std::string_view name() const override { return "remove_barriers"; }

  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override {
    std::string why;
    std::vector<MoveInstance> out;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (model == nullptr || !model->facts.has_barrier) return out;
    const std::vector<SpareBarrier> spare = found(context, *model, why);
    if (spare.size() > 1) out.push_back({std::string(name()), std::string(kAll), {}});
    for (const SpareBarrier& s : spare) out.push_back({std::string(name()), site_of(s), {}});
    return out;
  }

  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override {
    if (!takes(wanted, {}, why)) return std::nullopt;
    const auto model = model::model_kernel(context.spec, context.variant, why);
    if (model == nullptr) return std::nullopt;
    std::vector<SpareBarrier> spare = found(context, *model, why);
    if (spare.empty()) return std::nullopt;
    if (wanted.site == kAll) {
      spare = spare_together(context, *model, spare);
    } else {
      std::erase_if(spare, [&](const SpareBarrier& s) { return site_of(s) != wanted.site; });
      if (spare.empty())
        return why = "no barrier at " + wanted.site + " that orders nothing", std::nullopt;
    }
    std::vector<Edit> edits;
    for (const SpareBarrier& s : spare) edits.push_back(edit(*model, s));
    Variant out = context.variant;
    out.source = edited(model->unit.source(), std::move(edits));
    return out;
  }

 private:
  static constexpr std::string_view kAll = "kernel";

  static std::vector<SpareBarrier> found(const MoveContext& context,
                                         const model::KernelModel& model,
                                         std::string& why) {
    const auto out = model::found_in<std::vector<SpareBarrier>>(
        context, model, "spare_barriers",
        [&](std::string& reason) { return spare_barriers(context, model, reason); });
    if (out->first.empty()) why = out->second;
    return out->first;
  }

  static Edit edit(const model::KernelModel& model, const SpareBarrier& s) {
    const model::Span span = s.barrier->span;
    if (s.left == SpareBarrier::Left::warp_barrier) return {span.begin, span.end, "__syncwarp();"};
    if (!s.barrier->parent->is(model::StmtKind::block)) return {span.begin, span.end, ";"};
    const model::Span lines = model::whole_lines(model.unit, span);
    return {lines.begin, lines.end, ""};
  }
};

}  // namespace

void register_move_remove_barriers(MoveRegistry& registry) {
  registry.add("remove_barriers",
               "barriers that order nothing taken away, or left to the warp where it alone meets",
               [] { return on_known_shape(std::make_unique<RemoveBarriers>()); });
}

}  // namespace warpath
