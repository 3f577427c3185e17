#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "priors/tactics/experience.h"
#include "priors/tactics/tactic_graph.h"

namespace warpath {

// What runs learned, stored beside their folders: OUTDIR/memory.jsonl, one line per trial, and
// OUTDIR/tactic_graph.json, derived from it.

/// A line without its line feed. Throws Error(bad_input) naming `place` and key.
[[nodiscard]] std::string experience_text(const Experience& experience);
[[nodiscard]] Experience parse_experience(const std::string& line, const std::string& place);

[[nodiscard]] TacticGraph graph_of(const std::vector<Experience>& experiences);

/// Replaces the experiences of the same runs, or all, by `experiences`. Waits for other processes
/// doing the same. Throws Error(bad_input) naming a damaged line, Error(environment) if writing
/// fails.
void remember(const std::filesystem::path& outdir,
              const std::vector<Experience>& experiences,
              bool replace_all);

}  // namespace warpath
