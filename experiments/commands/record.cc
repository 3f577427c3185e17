#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/run/run_identity.h"
#include "experiments/console/interrupt.h"
#include "experiments/console/status_line.h"
#include "experiments/evaluate/batch.h"
#include "experiments/propose/move_workers.h"
#include "experiments/setup/option_groups.h"
#include "experiments/study/graph_recorder.h"
#include "register_commands.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

/// Default file of a run's graph.
fs::path graph_file(const fs::path& run) {
  return run / (fs::weakly_canonical(run).filename().string() + ".graph.gz");
}

/// Makes the graph of some runs and writes it; one line about it.
void record(const std::vector<fs::path>& folders,
            const std::string& name,
            const fs::path& file,
            const Program& program,
            std::stop_token stop) {
  StatusLine status(stderr);
  const Plugins plugins;
  const MoveWorkers workers(plugins.moves, move_workers_setup({}, program));
  const RecordedGraph graph = record_graph(
      folders, name, workers.moves(),
      [&](std::size_t done, std::size_t all) {
        status.show([&](std::size_t width) {
          return tally_line({.name = "moves of",
                             .done = static_cast<double>(done),
                             .planned = static_cast<double>(all)},
                            {{"variants", 0, " "}}, width);
        });
      },
      std::move(stop));
  status.clear();
  save_graph(graph, file);
  std::size_t ok = 0, actions = 0;
  for (std::uint32_t i = 0; i < graph.rows().size(); ++i) {
    ok += graph.rows()[i].status == Status::ok ? 1U : 0U;
    actions += graph.node(i).actions.size();
  }
  std::printf("%s: %zu variants, %zu with a time, %zu moves between them, best %s ms of %s ms\n",
              file.c_str(), graph.rows().size(), ok, actions,
              ms_text(graph.best_ns() * 1e-6).c_str(),
              ms_text(graph.rows().front().time_ns * 1e-6).c_str());
}

int record_runs(const Arguments& arguments, const Program& program) {
  const InterruptWatch interrupts;
  const std::vector<fs::path> folders(arguments.words().begin(), arguments.words().end());
  const fs::path file = arguments.value("output").value_or(graph_file(folders.front()).string());
  record(folders, arguments.value("name").value_or(""), file, program, interrupts.stop());
  return 0;
}

/// Flags of `warpath run` that choose how to search, which a sweep decides itself.
constexpr std::string_view kOwn[] = {"budget-builds", "strategy", "print-config", "proposals"};

std::vector<Flag> sweep_flags() {
  std::vector<Flag> flags{{.name = "max-variants",
                           .value = "N",
                           .help = "variants to evaluate, the baseline not counted (2000)"}};
  for (Flag& flag : run_command().flags) {
    if (std::ranges::find(kOwn, flag.name) == std::end(kOwn)) flags.push_back(std::move(flag));
  }
  return flags;
}

int sweep(const Arguments& arguments, const Program& program) {
  // A search that differs only in its order: it resumes, stops and reports like `warpath run`.
  std::vector<std::string> words{"--budget-builds",
                                 arguments.value("max-variants").value_or("2000"), "--no-llm"};
  for (const char* const set :
       {"search.strategy=breadth_first", "tune.builds=0", "run.finalists=0", "run.patience=0"}) {
    words.emplace_back("--set");
    words.emplace_back(set);
  }
  for (const Flag& flag : sweep_flags()) {
    if (flag.name == "max-variants" || flag.name == "no-llm" || !arguments.has(flag.name)) continue;
    if (flag.takes == Flag::Takes::nothing) words.push_back("--" + flag.name);
    for (const std::string& value : arguments.values(flag.name)) {
      if (flag.takes == Flag::Takes::nothing) break;
      words.push_back("--" + flag.name + "=" + value);
    }
  }
  const std::vector<Flag> flags = run_command().flags;
  const int code = run_command().run(parse_arguments("warpath sweep", flags, words), program);
  if (code != 0 && code != 2) return code;
  const InterruptWatch interrupts;
  const fs::path kernels = fs::path(arguments.value("outdir").value_or("out")) / "kernels";
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kernels)) {
    const auto config = recorded_config(entry.path(), default_options());
    if (config && config->options.search.strategy == "breadth_first")
      folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const fs::path& folder : folders)
    record({folder}, "", graph_file(folder), program, interrupts.stop());
  return 0;
}

Command record_command() {
  return {.name = "record",
          .usage = "RUN... [--output FILE] [--name NAME]",
          .help =
              "make a graph of what runs evaluated and the moves between it, to be searched again "
              "without a device (docs/recorded-spaces.md)",
          .flags = {{.name = "output",
                     .value = "FILE",
                     .help = "where the graph goes (NAME.graph.gz in the first run's folder)"},
                    {.name = "name", .value = "NAME", .help = "of the graph (the spec's)"}},
          .least_words = 1,
          .most_words = 1000,
          .run = record_runs};
}

Command sweep_command() {
  return {.name = "sweep",
          .usage = "--input SPEC|DIR... [--max-variants N] [FLAGS of run]",
          .help =
              "evaluate every variant in order of its distance from the kernel, and record the "
              "graph of them: OUTDIR/kernels/NAME/NAME.graph.gz",
          .flags = sweep_flags(),
          .run = sweep};
}

}  // namespace

void register_command_record(CommandRegistry& registry) {
  registry.push_back(sweep_command());
  registry.push_back(record_command());
}

}  // namespace warpath
