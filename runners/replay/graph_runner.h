#pragma once

#include <memory>

#include "engine/plugin/runner.h"
#include "runners/replay/recorded_graph.h"

namespace warpath {

/// Serves a recorded graph in place of the device that it was recorded on: a search makes its
/// variants as ever, one that is not recorded is refused before it costs anything, and the seconds
/// of an evaluation go to a virtual clock.
[[nodiscard]] std::unique_ptr<Runner> make_graph_runner(std::shared_ptr<const RecordedGraph> graph,
                                                        const RunnerConfig& config);

}  // namespace warpath
