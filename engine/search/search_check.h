#pragma once

#include <string>

#include "engine/search/counts.h"
#include "engine/search/search.h"
#include "engine/search/search_live.h"

namespace warpath {

/// Checks from scratch all invariants between calls of a search (docs/search.md, "Invariants"), on
/// any data accepted by Graph::from_rows. Returns one line naming the first violation, or empty.
/// O(V log V + E log E).
[[nodiscard]] std::string violated_search_invariant(const Graph& graph,
                                                    const Search::State& state,
                                                    const LiveFlags& live);

/// Checks the search's counts of edges in flight against a recount over the paths of dispatches
/// before `counted`.
[[nodiscard]] std::string violated_in_flight(const Counts<EdgeId>& edges,
                                             const Search::State& state,
                                             std::uint64_t counted);

}  // namespace warpath
