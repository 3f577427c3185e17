#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// True if `wanted` has the parameters that `move` has at its site, each with one of their values
/// (Move::domain); otherwise one line in `why`. Not for sites without parameters.
[[nodiscard]] bool in_domain(const Move& move,
                             const MoveContext& context,
                             const MoveInstance& wanted,
                             std::string& why);

/// A move that works on the model of a kernel, has parameters at all its sites, and candidates few
/// enough to be tried.
class KernelMove : public Move {
 public:
  /// The candidates that apply.
  [[nodiscard]] std::vector<MoveInstance> enumerate(const MoveContext& context) const override;
  [[nodiscard]] std::optional<Variant> apply(const MoveContext& context,
                                             const MoveInstance& wanted,
                                             std::string& why) const override;

 private:
  /// What may apply, in the order of enumerate(); what is not in the domain is left out.
  [[nodiscard]] virtual std::vector<MoveInstance> candidates(
      const MoveContext& context, const model::KernelModel& model) const = 0;
  /// As apply(); the parameters are in the domain of `wanted.site`.
  [[nodiscard]] virtual std::optional<Variant> rewritten(const MoveContext& context,
                                                         const model::KernelModel& model,
                                                         const MoveInstance& wanted,
                                                         std::string& why) const = 0;
};

}  // namespace warpath
