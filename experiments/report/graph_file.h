#pragma once

#include <filesystem>

#include "experiments/console/command_line.h"

namespace warpath {

/// `inspect RUN --graph FILE`: writes the search graph of the run in `folder`, or with --around
/// NODE the part within --radius edges of a node in either direction, as FILE.dot for Graphviz or
/// FILE.graphml. Prints one line about it to stdout. Throws Error(bad_input) for other kinds of
/// file and for invalid flags, nodes and runs.
void write_graph_file(const std::filesystem::path& folder, const Arguments& arguments);

/// Its flags.
[[nodiscard]] std::vector<Flag> graph_flags();

}  // namespace warpath
