#pragma once

#include <memory>

#include "engine/plugin/runner.h"
#include "runners/replay/recorded_graph.h"

namespace warpath {

/// A runner that serves a recorded graph in place of the device it was recorded on: a search makes
/// variants as usual, those not recorded are refused at no cost, and the seconds of an evaluation
/// are charged to a virtual clock.
[[nodiscard]] std::unique_ptr<Runner> make_graph_runner(std::shared_ptr<const RecordedGraph> graph,
                                                        const RunnerConfig& config);

}  // namespace warpath
