#include "experiments/report/run_material.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "experiments/evaluate/attributing.h"

namespace warpath {
namespace {

using nlohmann::json;

/// Null where there is no such file, or it cannot be read.
json read_if_whole(const std::filesystem::path& file) {
  std::error_code absent;
  if (!std::filesystem::exists(file, absent)) return {};
  try {
    return read_json_file(file.string());
  } catch (const Error&) {
    return {};
  }
}

std::optional<BestSummary> summary_if_whole(const std::filesystem::path& folder) {
  try {
    return read_best_summary(folder);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::filesystem::path> run_folders(const std::filesystem::path& path) {
  if (RunFolder::has_run(path)) return {path};
  std::vector<std::filesystem::path> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path / "kernels", error)) {
    if (RunFolder::has_run(entry.path())) out.push_back(entry.path());
  }
  if (out.empty())
    throw bad_input(path.string(), "", "a run folder, OUTDIR/kernels/NAME, or an OUTDIR with some");
  std::ranges::sort(out);
  return out;
}

RunMaterial run_material(const std::filesystem::path& folder) {
  RecordedRun run(folder);
  SearchGraph graph = recorded_search_graph(folder, run);
  json config = read_json_file((folder / "config.json").string());
  return {.folder = folder,
          .run = std::move(run),
          .graph = std::move(graph),
          .attribution = recorded_attribution(folder),
          .summary = summary_if_whole(folder),
          .environment = read_if_whole(folder / "environment.json"),
          .options = config.value("options", json::object())};
}

bool read_on(RunMaterial& material) {
  auto summary = summary_if_whole(material.folder);
  const auto state = [](const auto& of) {
    return of ? std::pair(of->stop_reason, of->seconds) : std::pair(std::string(), -1.0);
  };
  const bool changed = state(summary) != state(material.summary);
  material.summary = std::move(summary);
  if (!material.run.read_on()) return changed;
  material.graph = recorded_search_graph(material.folder, material.run);
  return true;
}

const Outcome& last_outcome(const RecordedNode& node) {
  return node.final_outcome && node.final_outcome->status == Status::ok ? *node.final_outcome
                                                                        : *node.outcome;
}

std::string refused_by(const Outcome& outcome) {
  const auto failed =
      std::ranges::find(outcome.verdict.gates, GateResult::Answer::fail, &GateResult::answer);
  return failed == outcome.verdict.gates.end() ? std::string(name(outcome.status)) : failed->gate;
}

}  // namespace warpath
