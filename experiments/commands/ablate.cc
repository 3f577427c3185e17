#include <cstdio>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/log/run_folder.h"
#include "experiments/console/interrupt.h"
#include "experiments/console/status_line.h"
#include "experiments/console/table_text.h"
#include "experiments/evaluate/batch.h"
#include "experiments/study/study.h"
#include "experiments/study/study_report.h"
#include "experiments/study/study_runs.h"
#include "experiments/study/study_spaces.h"
#include "experiments/study/study_tables.h"
#include "register_commands.h"

namespace warpath {
namespace {

int count_of(const Arguments& arguments, const std::string& flag, int otherwise) {
  const auto text = arguments.value(flag);
  if (!text) return otherwise;
  char* end = nullptr;
  const long n = std::strtol(text->c_str(), &end, 10);
  if (text->empty() || *end != '\0' || n < 1 || n > 1'000'000)
    throw bad_input("--" + flag, *text, "1 to 1000000");
  return static_cast<int>(n);
}

/// The table that stands above all others in summary.md.
std::string overview(const StudyTable& table) {
  std::vector<std::vector<std::string>> rows{{"setting", "score", "within 5 %", "ms/evaluation"}};
  for (const StudyRow& r : table.rows) {
    if (r.whole)
      rows.push_back({r.title(), interval_text(r.score, r.interval), format("%.2f", r.hit5),
                      r.peer ? "" : format("%.3f", r.tuner_ms)});
  }
  return aligned_text(rows, {2, 3});
}

int ablate(const Arguments& arguments, const Program&) {
  Study study = load_study(arguments.words().front());
  const Plugins plugins;
  for (const Setting& setting : study.settings) {
    check_move_names(setting.options, plugins);
    static_cast<void>(plugins.priors.create("run.prior", setting.options.run.prior, PriorConfig{}));
  }
  study.seeds =
      static_cast<std::uint64_t>(count_of(arguments, "seeds", static_cast<int>(study.seeds)));
  const Shard shard = parse_shard(arguments.value("shard").value_or("1/1"));
  const std::vector<std::string> folders = arguments.values("spaces");
  const std::vector<StudySpace> spaces = study_spaces(study, folders, [](const std::string& line) {
    std::fprintf(stderr, "warpath: %s\n", line.c_str());
  });
  const std::filesystem::path folder =
      std::filesystem::path(arguments.value("outdir").value_or("out")) / "ablations" / study.name;
  StatusLine status(stderr);
  const InterruptWatch interrupts;
  const bool whole = carry_out(
      study, spaces, plugins.priors, plugins.moves, folder, shard,
      count_of(arguments, "threads", 0),
      [&](std::size_t done, std::size_t planned) {
        status.show([&](std::size_t width) {
          return tally_line({.name = study.name,
                             .done = static_cast<double>(done),
                             .planned = static_cast<double>(planned)},
                            {{"runs", 0, " "}}, width);
        });
      },
      interrupts.stop());
  status.clear();
  if (!whole) {
    std::fprintf(stderr, "warpath: stopped; the same command continues\n");
    return static_cast<int>(ErrorCode::environment);
  }
  const StudyTable table = tabulate(study, spaces, read_runs(folder), read_peers(folders, spaces));
  const Document page = study_page(study, table);
  write_file_atomically(folder / "summary.md", page.markdown());
  write_file_atomically(folder / "curves.csv", curves_csv(table));
  write_file_atomically(folder / "scores.json", score_json(study, table));
  write_file_atomically(folder / "report.html", page.html());
  std::printf("%s%s\n", overview(table).c_str(), (folder / "summary.md").string().c_str());
  return 0;
}

}  // namespace

void register_command_ablate(CommandRegistry& registry) {
  using enum Flag::Takes;
  registry.push_back(
      {.name = "ablate",
       .usage = "STUDY.json [--spaces DIR|FILE...] [FLAGS]",
       .help = "compare settings of the search on recorded spaces: scores with intervals, tables, "
               "curves",
       .flags =
           {{.name = "spaces",
             .value = "DIR|FILE...",
             .help = "recorded spaces beside those of the study; trajectories of other programs "
                     "there join the tables",
             .takes = several},
            {.name = "outdir",
             .value = "DIR",
             .help =
                 "results go to DIR/ablations/<study> (out); runs already there are not repeated"},
            {.name = "seeds", .value = "N", .help = "in place of the study's"},
            {.name = "shard",
             .value = "I/N",
             .help = "only every N-th run from the I-th; a last call without it makes the tables "
                     "(1/1)"},
            {.name = "threads", .value = "N", .help = "runs at once (all cores)"}},
       .least_words = 1,
       .most_words = 1,
       .run = ablate});
}

}  // namespace warpath
