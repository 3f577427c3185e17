#include <cstdio>

#include "engine/run/run_folder.h"
#include "experiments/evaluate/attributing.h"
#include "experiments/report/portfolio_report.h"
#include "experiments/report/run_report.h"
#include "register_commands.h"

namespace warpath {
namespace {

int report(const Arguments& arguments, const Program&) {
  const std::filesystem::path folder = arguments.words()[0];
  const RecordedRun run(folder);
  Document page = run_report(run, recorded_search_graph(folder, run), recorded_attribution(folder));
  if (const std::string portfolio = portfolio_text(folder); !portfolio.empty()) {
    page.heading(2, "Portfolio");
    page.preformatted(portfolio);
  }
  const std::string text = page.markdown();
  write_file_atomically(folder / "report.md", text);
  write_file_atomically(folder / "report.html", page.html());
  std::printf("%s", text.c_str());
  return 0;
}

}  // namespace

void register_command_report(CommandRegistry& registry) {
  registry.push_back(
      {.name = "report",
       .usage = "RUN",
       .help =
           "why the best kernel of a recorded run is the best: path, other ways to it, what each "
           "move is worth, what the code shows, bottleneck before and after; "
           "printed, and written to report.md and report.html in the run folder",
       .flags = {},
       .least_words = 1,
       .most_words = 1,
       .run = report});
}

}  // namespace warpath
