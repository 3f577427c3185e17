#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/base/hash.h"
#include "engine/search/graph.h"

namespace warpath {

/// The arenas of a graph as they lie in memory: keys, nodes, edges, one after the other, behind a
/// head that says how many there are and what they look like. A file for the machine that wrote it;
/// what it is worth is said by whoever keeps its sum.
[[nodiscard]] std::string pools_bytes(const Graph::Arenas& arenas);
/// Maps the file and copies the arenas out of it. Throws Error(bad_input) "FILE: ..." if it is
/// missing, cut, altered (`sum` is the hash128 of its bytes) or of another layout.
[[nodiscard]] Graph::Arenas map_pools(const std::filesystem::path& file, const Hash128& sum);

}  // namespace warpath
