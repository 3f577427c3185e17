#pragma once

#include <string>

#include "engine/search/edges_in_flight.h"
#include "engine/search/search.h"
#include "engine/search/search_live.h"

namespace warpath {

/// Checks everything that must hold between calls of a search (docs/search.md, "Invariants") from
/// scratch, on any data that Graph::from_arenas accepts. Empty, or one line naming the first
/// violation. O(V log V + E log E).
[[nodiscard]] std::string violated_search_invariant(const Graph& graph,
                                                    const Search::State& state,
                                                    const LiveFlags& live);

/// Checks the counts that a search keeps beside its graph against the paths in flight of dispatches
/// before `counted`, counted anew.
[[nodiscard]] std::string violated_in_flight(const EdgesInFlight& edges,
                                             const Search::State& state,
                                             std::uint64_t counted);

}  // namespace warpath
