#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "priors/tactics/experience.h"
#include "priors/tactics/tactic_graph.h"

namespace warpath {

// What runs learned, beside their folders: OUTDIR/memory.jsonl, a line a trial, and
// OUTDIR/tactic_graph.json, which follows from it.

/// A line without its line feed. Throws Error(bad_input) naming `place` and key.
[[nodiscard]] std::string experience_text(const Experience& experience);
[[nodiscard]] Experience parse_experience(const std::string& line, const std::string& place);

[[nodiscard]] TacticGraph graph_of(const std::vector<Experience>& experiences);

/// Puts `experiences` in place of those of the same runs, or of all. Waits for other processes that
/// do the same. Throws Error(bad_input) naming a damaged line, Error(environment) if nothing can be
/// written.
void remember(const std::filesystem::path& outdir,
              const std::vector<Experience>& experiences,
              bool replace_all);

}  // namespace warpath
