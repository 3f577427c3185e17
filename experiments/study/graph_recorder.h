#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "runners/replay/recorded_graph.h"

namespace warpath {

/// What the runs in `folders` (OUTDIR/kernels/NAME, of one spec on one device) evaluated, and which
/// of today's moves leads from which of these variants to which: applied here, no device is needed.
/// Rows in the order of the logs; of a variant that several runs evaluated the first outcome stays,
/// its time scaled to the first run's baseline. `progress`: variants whose moves are known, of how
/// many. Throws Error(bad_input) naming the folder; Error(interrupted) if `stop` came first.
[[nodiscard]] RecordedGraph record_graph(
    const std::vector<std::filesystem::path>& folders,
    const std::string& name,
    const MoveRegistry& moves,
    const std::function<void(std::size_t, std::size_t)>& progress,
    std::stop_token stop);

}  // namespace warpath
