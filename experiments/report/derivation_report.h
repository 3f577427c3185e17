#pragma once

#include <cstddef>

#include "experiments/console/document.h"
#include "experiments/setup/search_graph.h"

namespace warpath {

/// A section about the search graph around the kernel `best` (a node that was found by a move):
/// moves that undo each other, the shortest way to it against the path by which it was found, and
/// what every way to it has in common.
void add_derivation(const RecordedRun& run, const SearchGraph& of, std::size_t best, Document& to);

}  // namespace warpath
