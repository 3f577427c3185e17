#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "engine/base/hash.h"
#include "engine/search/graph.h"

namespace warpath {

/// Gives `sink` one piece after another of a graph as memory images: keys, nodes and edges,
/// preceded by a header with their number and layout. Readable on the machine that wrote it; the
/// caller checks it against a stored checksum.
void write_pools(const Graph& graph, const std::function<void(std::string_view)>& sink);
/// Neither the file nor a part of it beyond some pieces is in memory beside the graph. Throws
/// Error(bad_input) "FILE: ..." if it is missing, truncated, altered (`sum` is the hash128 of its
/// bytes), of another layout or no graph.
[[nodiscard]] Graph read_pools(const std::filesystem::path& file, const Hash128& sum);

}  // namespace warpath
