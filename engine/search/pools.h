#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "engine/base/hash.h"
#include "engine/search/graph.h"

namespace warpath {

/// The arenas of a graph as memory images: keys, nodes and edges, preceded by a header with their
/// number and layout. Readable on the machine that wrote it; the caller checks it against a stored
/// checksum.
[[nodiscard]] std::string pools_bytes(const Graph::Arenas& arenas);
/// Maps the file and copies the arenas out of it. Throws Error(bad_input) "FILE: ..." if it is
/// missing, truncated, altered (`sum` is the hash128 of its bytes) or of another layout.
[[nodiscard]] Graph::Arenas map_pools(const std::filesystem::path& file, const Hash128& sum);

}  // namespace warpath
