#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/row_sweeps.h"

namespace warpath {

/// Computes sum and sum of squared deviations in one sweep: both relative to the row's first
/// element, to avoid cancellation, and corrected afterwards. nullopt with one line in `why`.
[[nodiscard]] std::optional<Variant> fuse_statistics(const MoveContext& context,
                                                     const model::KernelModel& model,
                                                     const RowSweeps& sweeps,
                                                     std::string& why);

/// Computes the maximum and the sum of exponentials relative to it in one sweep: the sum is
/// rescaled whenever the maximum grows.
[[nodiscard]] std::optional<Variant> fuse_maximum(const MoveContext& context,
                                                  const model::KernelModel& model,
                                                  const RowSweeps& sweeps,
                                                  std::string& why);

/// Recomputes a value that one sweep stores and a later one loads and overwrites.
[[nodiscard]] std::optional<Variant> recompute_stored(const MoveContext& context,
                                                      const model::KernelModel& model,
                                                      const RowSweeps& sweeps,
                                                      std::string& why);

/// Runs every second sweep backwards: what the previous sweep touched last is still in the cache.
[[nodiscard]] std::optional<Variant> reverse_sweeps(const MoveContext& context,
                                                    const model::KernelModel& model,
                                                    const RowSweeps& sweeps,
                                                    std::string& why);

}  // namespace warpath
