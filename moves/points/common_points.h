#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A kernel of one point a thread, cut into what its guards say and what it does under them.
struct CommonPoints {
  const model::ThreadIndex* index = nullptr;  ///< of the point, bounded by a guard
  bool exact = false;                    ///< with so many points a thread, none is beyond the end
  std::vector<const model::Stmt*> list;  ///< the statements under the guards, in order
  struct Exit {
    const model::Expr* condition = nullptr;
    std::string text;  ///< what must hold for the thread to leave
  };
  /// What holds for all points of a thread or for none, by the statement of `list` it stands
  /// before.
  std::map<std::size_t, std::vector<Exit>> exits;
};

/// The kernel as points of threads along `axis`, if a thread may make `count` of them; nullopt with
/// one line in `why` if not.
[[nodiscard]] std::optional<CommonPoints> common_points(const MoveContext& context,
                                                        const model::KernelModel& kernel,
                                                        int axis,
                                                        std::int64_t count,
                                                        std::string& why);

}  // namespace warpath
