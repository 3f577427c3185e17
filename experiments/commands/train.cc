#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/json/record_codec.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/prior.h"
#include "experiments/console/table_text.h"
#include "experiments/evaluate/trials.h"
#include "experiments/setup/memory.h"
#include "register_commands.h"

namespace warpath {

template <>
struct Description<GainValidation>
    : Record<Kept<"kernel", &GainValidation::kernel>,
             Kept<"examples", &GainValidation::examples>,
             Kept<"improved", &GainValidation::improved>,
             Kept<"rank_correlation", &GainValidation::rank_correlation>,
             Kept<"node_correlation", &GainValidation::node_correlation>,
             Kept<"lift", &GainValidation::lift>,
             Kept<"log_loss", &GainValidation::log_loss>,
             Kept<"uniform_log_loss", &GainValidation::uniform_log_loss>,
             Kept<"deviation", &GainValidation::deviation>,
             Kept<"covered", &GainValidation::covered>> {};

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string table_of(const std::vector<GainValidation>& validations) {
  std::vector<std::vector<std::string>> rows{{"kernel left out", "trials", "improved", "rank corr.",
                                              "at a node", "lift", "log loss", "uniform's",
                                              "deviation", "covered"}};
  for (const GainValidation& v : validations)
    rows.push_back({v.kernel, std::to_string(v.examples), format("%.3f", v.improved),
                    format("%.3f", v.rank_correlation), format("%.3f", v.node_correlation),
                    format("%.2f", v.lift), format("%.4f", v.log_loss),
                    format("%.4f", v.uniform_log_loss), format("%.3f", v.deviation),
                    format("%.2f", v.covered)});
  return aligned_text(rows, {1, 2, 3, 4, 5, 6, 7, 8, 9});
}

/// Checked before work that would otherwise be lost.
void require_place_for(const std::string& flag, const fs::path& file) {
  std::error_code none;
  const fs::path folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
  if (fs::is_directory(file, none) || !file.has_filename())
    throw bad_input(flag, file.string(), "a file, not a folder");
  if (!fs::is_directory(folder, none))
    throw bad_input(flag, file.string(), "a file in a folder that is there");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw bad_input(flag, file.string(), "a file in a folder that can be written");
}

int train(const Arguments& arguments, const Program&) {
  const bool drafts = arguments.has("drafts");
  const fs::path output =
      arguments.value("output").value_or(std::string(drafts ? kDraftModelFile : kModelFile));
  require_place_for("--output", output);
  if (const auto file = arguments.value("json")) require_place_for("--json", *file);
  std::vector<GainExample> examples;
  for (const std::string& place : arguments.words()) {
    const RecordedTrials trials(place);
    for (GainExample& e : drafts ? trials.draft_examples() : trials.examples())
      examples.push_back(std::move(e));
  }
  std::set<std::string> kernels;
  for (const GainExample& e : examples) kernels.insert(e.kernel);
  const auto folds = arguments.value("folds");
  if (kernels.size() > 1) {
    if (folds) fs::create_directories(*folds);
    const std::vector<GainValidation> validations =
        leave_one_kernel_out(examples, [&](const std::string& kernel, const GainModel& model) {
          if (folds)
            write_file_atomically(
                fs::path(*folds) / (kernel + (drafts ? ".draft_model.json" : ".model.json")),
                model.text());
        });
    std::printf("%s", table_of(validations).c_str());
    json rows = json::array();
    for (const GainValidation& v : validations) rows.push_back(Codec<GainValidation>::write(v));
    if (const auto file = arguments.value("json"))
      write_file_atomically(*file, rows.dump(1) + "\n");
  } else if (folds || arguments.has("json")) {
    throw bad_input(folds ? "--folds" : "--json",
                    kernels.empty() ? "nothing" : *kernels.begin() + " alone",
                    "runs or graphs of at least two kernels");
  }
  const GainModel model = fit_gain_model(examples);
  write_file_atomically(output, model.text());
  std::printf("%s: %zu trials of %zu kernels, %zu features, lambda %g, deviation %.3f\n",
              output.c_str(), examples.size(), kernels.size(), model.parts().names.size(),
              model.parts().lambda, std::sqrt(model.parts().noise));
  return 0;
}

constexpr std::size_t kShownEdges = 40;

/// The most frequent transitions, with their estimates.
void print_edges(const TacticGraph& graph) {
  std::vector<const std::pair<const TacticGraph::Edge, TacticStats>*> order;
  for (const auto& edge : graph.edges()) order.push_back(&edge);
  std::ranges::stable_sort(
      order, [](const auto* a, const auto* b) { return a->second.tried > b->second.tried; });
  if (order.size() > kShownEdges) order.resize(kShownEdges);
  std::vector<std::vector<std::string>> rows{
      {"context", "moves", "tried", "failed", "improved", "log gain", "expected"}};
  for (const auto* const edge : order) {
    const TacticBelief belief = graph.believe(edge->first, {});
    rows.push_back({edge->first.context, edge->first.from + " > " + edge->first.to,
                    format("%.0f", edge->second.tried), format("%.0f", edge->second.failed),
                    format("%.2f", belief.improves.mean()),
                    format("%.3f +- %.2f", belief.gain.mean, std::sqrt(belief.gain.variance)),
                    format("%.3f", belief.expected)});
  }
  std::printf("%s", aligned_text(rows, {2, 3, 4, 5, 6}).c_str());
}

/// Run folders of OUTDIR that are searches, in order of their names.
std::vector<std::string> all_runs(const fs::path& outdir) {
  std::vector<std::string> out;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(outdir / "kernels", none)) {
    if (RunFolder::has_run(entry.path())) out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  if (out.empty())
    throw bad_input("warpath tactics", outdir.string(),
                    "runs or graphs, or an --outdir that holds runs");
  return out;
}

int tactics(const Arguments& arguments, const Program&) {
  const fs::path outdir = arguments.value("outdir").value_or("out");
  const std::vector<std::string> places =
      arguments.words().empty() ? all_runs(outdir) : arguments.words();
  std::map<std::string, std::vector<Experience>> by_kernel;
  std::vector<Experience> all;
  for (const std::string& place : places) {
    for (Experience& experience : RecordedTrials(place).experiences()) {
      by_kernel[experience.kernel].push_back(experience);
      all.push_back(std::move(experience));
    }
  }
  if (const auto folds = arguments.value("folds")) {
    fs::create_directories(*folds);
    for (const auto& [kernel, own] : by_kernel) {
      std::vector<Experience> others;
      std::ranges::copy_if(all, std::back_inserter(others),
                           [&, &kernel = kernel](const Experience& experience) {
                             return experience.kernel != kernel;
                           });
      write_file_atomically(fs::path(*folds) / (kernel + ".tactics.json"), graph_of(others).text());
    }
  }
  remember(outdir, all, true);
  print_edges(graph_of(all));
  std::printf("%s: %zu trials of %zu kernels\n", (outdir / kTacticGraphFile).c_str(), all.size(),
              by_kernel.size());
  return 0;
}

Command train_command() {
  return {.name = "train",
          .usage = "RUN|GRAPH... [--drafts] [--output FILE] [--folds DIR]",
          .help =
              "train the learned prior on what runs and graphs tried; predicts each kernel by a "
              "model of the others first (docs/priors.md)",
          .flags = {{.name = "drafts",
                     .value = "",
                     .help = "the model of what compiling tells instead, for --draft-model",
                     .takes = Flag::Takes::nothing},
                    {.name = "output",
                     .value = "FILE",
                     .help = "where the model goes (prior_model.json, draft_model.json), for "
                             "--prior-model"},
                    {.name = "folds",
                     .value = "DIR",
                     .help = "keep the models of the validation too: KERNEL.model.json, or "
                             "KERNEL.draft_model.json, was trained without KERNEL"},
                    {.name = "json", .value = "FILE", .help = "the validation for programs"}},
          .least_words = 1,
          .most_words = 1000,
          .run = train};
}

Command tactics_command() {
  return {.name = "tactics",
          .usage = "[RUN|GRAPH...] [--outdir DIR] [--folds DIR]",
          .help =
              "make DIR/memory.jsonl and DIR/tactic_graph.json anew of runs and graphs, all runs "
              "of DIR unless they are named (docs/priors.md)",
          .flags = {{.name = "outdir", .value = "DIR", .help = "where both files go (out)"},
                    {.name = "folds",
                     .value = "DIR",
                     .help = "a graph of all other kernels for each: KERNEL.tactics.json"}},
          .most_words = 1000,
          .run = tactics};
}

}  // namespace

void register_command_train(CommandRegistry& registry) {
  registry.push_back(train_command());
  registry.push_back(tactics_command());
}

}  // namespace warpath
