#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax.h"

namespace warpath {

/// A barrier of the block that is more than what is needed there.
struct SpareBarrier {
  /// What may stand in its place.
  enum class Left : std::uint8_t { barrier, warp_barrier, nothing };
  std::size_t number = 0;  ///< among the kernel's barriers, in the order of the text
  const model::Stmt* barrier = nullptr;
  Left left = Left::nothing;
};

/// Barriers that order nothing, or only what threads of one warp do: each as long as all others
/// stay. Proved from the accesses: what threads do on the one side, back to the last barrier, and
/// what others do on the other side, up to the next one, is apart in every iteration of the loops
/// around. Empty with one line in `why` if there are none.
[[nodiscard]] std::vector<SpareBarrier> spare_barriers(const MoveContext& context,
                                                       const model::KernelModel& model,
                                                       std::string& why);

/// A subset of `each` that can be removed together: every one of them remains redundant after the
/// earlier ones are removed.
[[nodiscard]] std::vector<SpareBarrier> spare_together(const MoveContext& context,
                                                       const model::KernelModel& model,
                                                       const std::vector<SpareBarrier>& each);

}  // namespace warpath
