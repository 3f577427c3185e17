#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/model/kernel_model.h"
#include "moves/tiles/stencil.h"

namespace warpath {

/// An axis of a stencil that a thread takes several points of.
struct MarchedAxis {
  std::string name;      ///< the index's variable
  std::string end;       ///< its exclusive bound, as text
  std::size_t axis = 0;  ///< of the launch
};

/// What a march of a stencil along its slowest axis needs: `slow` becomes a loop of every thread,
/// around `region`; with a width, a thread makes that many points of `side` at once.
struct MarchPlan {
  Stencil stencil;
  MarchedAxis slow, side;                   ///< `side` is empty without a width
  std::string side_first;                   ///< name of a thread's first index on `side`
  std::vector<const model::Stmt*> region;   ///< the statements that the loop holds, in order
  std::vector<const model::Stmt*> returns;  ///< those in `region`: the next point follows instead
  std::vector<Edit> guards;  ///< takes what guards before `region` say of `slow` away
  std::set<std::string, std::less<>> taken;  ///< names that were made up
};

/// Points side by side that one wide access takes.
inline constexpr std::int64_t kMarchWidth = 4;

/// nullopt, with one line in `why`, where a march of `width` points side by side (1 or kMarchWidth)
/// is not legal. The plan refers to `kernel`.
[[nodiscard]] std::optional<MarchPlan> plan_march(const MoveContext& context,
                                                  const model::KernelModel& kernel,
                                                  std::int64_t width,
                                                  std::string& why);

/// `text` with names replaced; members of the same name stay.
[[nodiscard]] std::string with_names(const std::string& text,
                                     const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace warpath
