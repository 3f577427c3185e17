#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "runners/replay/recorded_graph.h"

namespace warpath {

/// Merges what the runs in `folders` (OUTDIR/kernels/NAME, of one spec on one device) evaluated,
/// with the current moves that lead from one of these variants to another, which are applied here
/// without a device. Rows in the order of the logs; for a variant evaluated by several runs the
/// first outcome is kept, its time scaled to the first run's baseline. `progress`: number of
/// variants whose moves are known, and total. Throws Error(bad_input) naming the folder;
/// Error(interrupted) if `stop` came first.
[[nodiscard]] RecordedGraph record_graph(
    const std::vector<std::filesystem::path>& folders,
    const std::string& name,
    const MoveRegistry& moves,
    const std::function<void(std::size_t, std::size_t)>& progress,
    std::stop_token stop);

}  // namespace warpath
