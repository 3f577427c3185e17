#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/search/graph.h"
#include "experiments/setup/recorded_run.h"

namespace warpath {

/// The search graph of a recorded run. Node ids are those of RecordedRun, which knows what each
/// node is; of a Node only depth, visits and edges are kept here.
struct SearchGraph {
  Graph graph;
  /// MoveInstance::text() of each edge, by id; empty: the record does not say.
  std::vector<std::string> moves;
  /// Empty: every edge that the search knew is there. Else one line for people: which are missing.
  std::string gap;
};

/// search_state.json as far as it goes, and what the log says after it. Without a snapshot that
/// fits there are the edges on which variants were found and evaluations went, with prior 0, and a
/// gap. Throws Error(bad_input) naming file and line if the log is damaged.
[[nodiscard]] SearchGraph recorded_search_graph(const std::filesystem::path& folder,
                                                const RecordedRun& run);

}  // namespace warpath
