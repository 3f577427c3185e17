#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/shared/row_sweeps.h"

namespace warpath {

/// Sum and sum of squared distances from the mean in one sweep: both are taken about the row's
/// first element, so that no digits are lost, and corrected behind it. nullopt with one line in
/// `why`.
[[nodiscard]] std::optional<Variant> fuse_statistics(const MoveContext& context,
                                                     const model::KernelModel& model,
                                                     const RowSweeps& sweeps,
                                                     std::string& why);

/// Maximum and sum of exponentials below it in one sweep: the sum is rescaled whenever the maximum
/// grows.
[[nodiscard]] std::optional<Variant> fuse_maximum(const MoveContext& context,
                                                  const model::KernelModel& model,
                                                  const RowSweeps& sweeps,
                                                  std::string& why);

/// A value that one sweep stores and a later one loads and overwrites is computed there again.
[[nodiscard]] std::optional<Variant> recompute_stored(const MoveContext& context,
                                                      const model::KernelModel& model,
                                                      const RowSweeps& sweeps,
                                                      std::string& why);

/// Every second sweep from the row's end to its start: what the sweep before touched last is still
/// in the cache.
[[nodiscard]] std::optional<Variant> reverse_sweeps(const MoveContext& context,
                                                    const model::KernelModel& model,
                                                    const RowSweeps& sweeps,
                                                    std::string& why);

}  // namespace warpath
