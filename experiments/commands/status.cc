#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/log/run_folder.h"
#include "experiments/console/table_text.h"
#include "experiments/report/run_headline.h"
#include "experiments/report/run_material.h"
#include "register_commands.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

std::string state_of(const RunMaterial& material) {
  if (RunFolder::is_in_use(material.folder))
    return material.run.cost().finals.evaluations > 0 ? "timing the finalists" : "searching";
  return material.summary && !material.summary->stop_reason.empty()
             ? "ended: " + material.summary->stop_reason
             : "interrupted";
}

std::vector<std::string> row_of(const fs::path& folder) {
  try {
    const RunMaterial material = run_material(folder);
    const RecordedRun& run = material.run;
    const auto ranking = run.ranking();
    const Headline headline = run_headline(material);
    return {run.run().name,
            state_of(material),
            std::to_string(run.cost().search.evaluations),
            ranking.empty() ? "-" : known_ratio_text(run.nodes()[ranking.front()].speedup),
            headline.verdict + (headline.interval.empty() ? "" : " " + headline.interval),
            duration_text(run.cost().seconds)};
  } catch (const Error&) {
    if (!RunFolder::is_in_use(folder)) throw;
    return {folder.filename().string(), "measuring the baseline", "0", "-", "-", "-"};
  }
}

int status(const Arguments& arguments, const Program&) {
  std::vector<std::vector<std::string>> rows{
      {"name", "state", "builds", "best", "result", "wall time"}};
  for (const std::string& word : arguments.words()) {
    for (const fs::path& folder : run_folders(word)) rows.push_back(row_of(folder));
  }
  std::printf("%s", aligned_text(rows, {2}).c_str());
  return 0;
}

}  // namespace

void register_command_status(CommandRegistry& registry) {
  registry.push_back({.name = "status",
                      .usage = "RUN|OUTDIR...",
                      .help = "what recorded runs are doing: a line each, also while they search",
                      .least_words = 1,
                      .most_words = 1000,
                      .run = status});
}

}  // namespace warpath
