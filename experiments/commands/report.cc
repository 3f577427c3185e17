#include <algorithm>
#include <cstdio>

#include "engine/base/error.h"
#include "engine/log/run_folder.h"
#include "experiments/report/run_page.h"
#include "experiments/report/run_report.h"
#include "register_commands.h"

namespace warpath {
namespace {

namespace fs = std::filesystem;

/// The Markdown that it wrote too.
std::string write_run(const RunMaterial& material) {
  std::string text = run_report(material).markdown();
  write_file_atomically(material.folder / "report.md", text);
  write_file_atomically(material.folder / "report.html", run_page(material));
  return text;
}

/// Where the page over several runs goes: --output, or the OUTDIR that they are all in.
fs::path batch_file(const Arguments& arguments) {
  if (const auto file = arguments.value("output")) {
    if (!file->ends_with(".html")) throw bad_input("--output", *file, "FILE.html");
    return *file;
  }
  if (arguments.words().size() > 1)
    throw bad_input("warpath report", "several runs", "--output FILE.html, or their OUTDIR alone");
  return fs::path(arguments.words()[0]) / "report.html";
}

int report_batch(const std::vector<fs::path>& folders, const fs::path& page) {
  std::vector<RunMaterial> runs;
  for (const fs::path& folder : folders) {
    runs.push_back(run_material(folder));
    static_cast<void>(write_run(runs.back()));
  }
  const auto speedup = [](const RunMaterial& material) {
    return material.summary && material.summary->measured ? material.summary->speedup : 0;
  };
  std::ranges::stable_sort(runs, std::ranges::greater(), speedup);
  const Document table = batch_report(runs, page.parent_path());
  fs::path text = page;
  write_file_atomically(page, batch_page(table));
  write_file_atomically(text.replace_extension(".md"), table.markdown());
  std::printf("%s", table.markdown().c_str());
  std::fprintf(stderr, "warpath: the page is %s\n", page.c_str());
  return 0;
}

int report(const Arguments& arguments, const Program&) {
  std::vector<fs::path> folders(arguments.words().begin(), arguments.words().end());
  if (folders.size() == 1 && !RunFolder::has_run(folders.front()))
    return report_batch(run_folders(folders.front()), batch_file(arguments));
  if (folders.size() > 1) return report_batch(folders, batch_file(arguments));
  if (const auto file = arguments.value("output"))
    throw bad_input("--output", *file, "it beside several runs");
  const RunMaterial material = run_material(folders.front());
  std::printf("%s", write_run(material).c_str());
  std::fprintf(stderr, "warpath: the page is %s\n", (material.folder / "report.html").c_str());
  return 0;
}

}  // namespace

void register_command_report(CommandRegistry& registry) {
  registry.push_back(
      {.name = "report",
       .usage = "RUN | OUTDIR | RUN RUN... --output FILE.html",
       .help =
           "what a recorded run found and why: result, path, value of the moves, bottleneck, what "
           "was tried and refused, cost; printed, and written to report.md and report.html (with "
           "charts and the search graph) in the run folder; of several runs also a table of all",
       .flags = {{.name = "output",
                  .value = "FILE.html",
                  .help = "where the table of several runs goes (OUTDIR/report.html)"}},
       .least_words = 1,
       .most_words = 1000,
       .run = report});
}

}  // namespace warpath
