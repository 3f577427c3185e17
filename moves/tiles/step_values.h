#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// What the writer of a loop in tiles of steps calls things.
struct StepTile {
  std::string size;  ///< steps a tile
  std::int64_t steps = 0;
  std::string start;  ///< the tile's first step
  std::string index;  ///< "e", of the loop that fills the tile
  std::string fill;   ///< that loop's head, without indentation
  std::string pad, indent;
  std::function<std::string(const std::string&)> fresh;
};

/// Variables of a loop's body that are the same for all threads of a block, computed once a step
/// into shared memory.
struct StepValues {
  std::string declared;     ///< arrays in shared memory
  std::string filled;       ///< the loop that fills them, without its last brace
  std::vector<Edit> edits;  ///< the body that reads them; what else would change in it goes
  std::int64_t bytes = 0;
};

/// nullopt with one line in `why` where the loop computes nothing of the kind that is more than a
/// load and an addition: a division, a function, a choice.
[[nodiscard]] std::optional<StepValues> step_values(const model::KernelModel& kernel,
                                                    const model::Loop& loop,
                                                    const StepTile& tile,
                                                    std::string& why);

}  // namespace warpath
