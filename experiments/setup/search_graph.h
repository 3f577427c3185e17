#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/search/graph.h"
#include "experiments/setup/recorded_run.h"

namespace warpath {

/// The search graph of a recorded run. Node ids are those of RecordedRun, which has the nodes'
/// contents; of a Node only depth, visits and edges are set.
struct SearchGraph {
  Graph graph;
  /// MoveInstance::text() of each edge, by id; empty: not recorded.
  std::vector<std::string> moves;
  /// Empty: complete. Otherwise one line on the missing edges.
  std::string gap;
};

/// search_state.json plus what the log adds. Without a matching snapshot, only the edges by which
/// variants were found and evaluated, with prior 0, and a gap. Throws Error(bad_input) naming file
/// and line if the log is damaged.
[[nodiscard]] SearchGraph recorded_search_graph(const std::filesystem::path& folder,
                                                const RecordedRun& run);

}  // namespace warpath
