#pragma once

#include <cstddef>

#include "experiments/console/document.h"
#include "experiments/setup/search_graph.h"

namespace warpath {

/// Adds a section on the search graph around the kernel `best` (a node created by a move): moves
/// that undo each other, the shortest path to it compared with the one by which it was found, and
/// what all paths to it have in common.
void add_derivation(const RecordedRun& run, const SearchGraph& of, std::size_t best, Document& to);

}  // namespace warpath
