#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"

namespace warpath {

/// Site of a move on one loop of a kernel: "loop:K", counted in textual order. Moves on the source
/// model count its loops (KernelFacts::loops, including while and do); unroll_loops, which reads
/// tokens, counts words `for`.
[[nodiscard]] inline std::string loop_site(std::size_t ordinal) {
  return "loop:" + std::to_string(ordinal);
}
[[nodiscard]] inline bool is_loop_site(std::string_view site) {
  return site.starts_with("loop:");
}

/// An instance of `move` without parameters for every loop at which `rewritten(context, model,
/// instance, why)` gives a variant. Empty if the kernel has no model.
template <class Rewritten>
[[nodiscard]] std::vector<MoveInstance> instances_at_loops(const MoveContext& context,
                                                           std::string_view move,
                                                           Rewritten rewritten) {
  std::vector<MoveInstance> out;
  std::string why;
  const auto model = model::model_kernel(context.spec, context.variant, why);
  if (model == nullptr) return out;
  for (std::size_t k = 0; k < model->facts.loops.size(); ++k) {
    MoveInstance instance{std::string(move), loop_site(k), {}};
    if (rewritten(context, *model, instance, why)) out.push_back(std::move(instance));
  }
  return out;
}

}  // namespace warpath
