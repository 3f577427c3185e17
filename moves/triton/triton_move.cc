#include "moves/triton/triton_move.h"

#include <utility>

namespace warpath {

std::string not_triton(const KernelSpec& spec) {
  return spec.kernel_type == KernelType::triton
             ? ""
             : "the move reads Triton, and the kernel is in another language";
}

std::vector<MoveInstance> TritonMove::enumerate(const MoveContext& context) const {
  if (!not_triton(context.spec).empty()) return {};
  const TritonKernel kernel(context);
  if (!kernel.problem().empty()) return {};
  std::vector<MoveInstance> out;
  for (MoveInstance& one : candidates(context, kernel)) {
    std::string why;
    if (!edits(context, kernel, one, why).empty()) out.push_back(std::move(one));
  }
  return out;
}

std::vector<Tunable> TritonMove::domain(const MoveContext& context, std::string_view site) const {
  return not_triton(context.spec).empty() ? parameters(site) : std::vector<Tunable>{};
}

std::optional<Variant> TritonMove::applied(const MoveContext& context,
                                           const MoveInstance& wanted,
                                           std::string& why) const {
  const TritonKernel kernel(context);
  if (!kernel.problem().empty()) return why = kernel.problem(), std::nullopt;
  std::vector<Edit> changes = edits(context, kernel, wanted, why);
  if (changes.empty()) return std::nullopt;
  Variant out = context.variant;
  out.source = edited(out.source, std::move(changes));
  return out;
}

}  // namespace warpath
