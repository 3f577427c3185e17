#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>

#include "experiments/setup/recorded_run.h"

namespace warpath {

/// A recorded run for programs: {"name", "runner", "seed", "device", "best": key, "nodes": [{"key",
/// "parent", "move", "proposer", "status", "speedup", "final_speedup", "build", "seconds"}]}, nodes
/// in the order in which they were found; a number that is not known is null.
[[nodiscard]] nlohmann::json run_json(const RecordedRun& run);
/// One of its nodes: the same, with "path", "outcome", "final_outcome", "variant" and "diff".
[[nodiscard]] nlohmann::json node_json(const RecordedRun& run, std::size_t node);

}  // namespace warpath
