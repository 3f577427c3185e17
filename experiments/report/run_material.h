#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/run/attribution.h"
#include "experiments/setup/best_summary.h"
#include "experiments/setup/recorded_run.h"
#include "experiments/setup/search_graph.h"

namespace warpath {

/// What a report is made from.
struct RunMaterial {
  std::filesystem::path folder;
  RecordedRun run;
  SearchGraph graph;
  std::optional<Attribution> attribution;
  std::optional<BestSummary> summary;  ///< absent: no result was recorded yet, or it is damaged
  nlohmann::json environment;          ///< environment.json; null: damaged or absent
  nlohmann::json options;              ///< of config.json: {group: {key: value}}
};

/// `path`, if it is a run folder, else the run folders of an OUTDIR, by name. Throws
/// Error(bad_input) if it is neither.
[[nodiscard]] std::vector<std::filesystem::path> run_folders(const std::filesystem::path& path);

/// Throws Error(bad_input) naming the file if `folder` contains no run or a file of it is damaged.
[[nodiscard]] RunMaterial run_material(const std::filesystem::path& folder);
/// Takes in what the folder gained since; false if nothing.
bool read_on(RunMaterial& material);

/// The outcome that counts: of the end of the search where it was taken and is ok, else of the
/// search.
[[nodiscard]] const Outcome& last_outcome(const RecordedNode& node);
/// Who refused it: the first gate that failed, the status where none did.
[[nodiscard]] std::string refused_by(const Outcome& outcome);

}  // namespace warpath
