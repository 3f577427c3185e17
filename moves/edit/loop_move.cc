#include "moves/edit/loop_move.h"

#include "moves/edit/loop_site.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/kernel_model.h"

namespace warpath {

using namespace model;

std::vector<MoveInstance> LoopMove::enumerate(const MoveContext& context) const {
  std::vector<MoveInstance> out;
  std::string why;
  const auto model = model_kernel(context.spec, context.variant, why);
  if (model == nullptr) return out;
  for (std::size_t k = 0; k < model->facts.loops.size(); ++k) {
    if (rewritten(context, *model, *model->facts.loops[k], why))
      out.push_back({std::string(name()), loop_site(k), {}});
  }
  return out;
}

std::optional<Variant> LoopMove::apply(const MoveContext& context,
                                       const MoveInstance& wanted,
                                       std::string& why) const {
  if (!takes(wanted, {}, why)) return std::nullopt;
  const auto model = model_kernel(context.spec, context.variant, why);
  if (model == nullptr) return std::nullopt;
  const auto& loops = model->facts.loops;
  for (std::size_t k = 0; k < loops.size(); ++k) {
    if (loop_site(k) == wanted.site) return rewritten(context, *model, *loops[k], why);
  }
  if (why = model->facts.veto; why.empty()) why = "no loop at " + wanted.site;
  return std::nullopt;
}

}  // namespace warpath
