#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A move without parameters on one loop of a kernel, site "loop:K" (loop_site.h).
class LoopMove : public Move {
 public:
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override;
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override;

 private:
  /// The kernel with `loop` rewritten; nullopt with one line in `why` if it cannot be.
  [[nodiscard]] virtual std::optional<Variant> rewritten(const MoveContext& context,
                                                         const model::KernelModel& model,
                                                         const model::Loop& loop,
                                                         std::string& why) const = 0;
};

}  // namespace warpath
