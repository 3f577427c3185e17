#pragma once

#include <filesystem>

#include "experiments/console/command_line.h"

namespace warpath {

/// `inspect RUN --graph FILE`: writes the search graph of the run in `folder`, or with --around
/// NODE the part of it that is at most --radius edges away from a node, in either direction, as
/// FILE.dot for Graphviz or FILE.graphml. One line to stdout about it. Throws Error(bad_input) for
/// another kind of file and for flags, nodes and runs that are wrong.
void write_graph_file(const std::filesystem::path& folder, const Arguments& arguments);

/// The flags that belong to it.
[[nodiscard]] std::vector<Flag> graph_flags();

}  // namespace warpath
