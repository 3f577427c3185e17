#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

#include "engine/base/detailed_error.h"
#include "experiments/console/interrupt.h"
#include "experiments/console/option_layers.h"
#include "experiments/console/progress.h"
#include "experiments/console/summary_table.h"
#include "experiments/evaluate/attributing.h"
#include "experiments/evaluate/batch.h"
#include "experiments/evaluate/build_shares.h"
#include "experiments/evaluate/evaluation_setup.h"
#include "experiments/evaluate/site_batch.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/runner_choice.h"
#include "experiments/setup/shipping.h"
#include "register_commands.h"

namespace warpath {
namespace {

/// The command line that continues this run.
std::string resume_command(const Program& program, bool resuming) {
  std::string out;
  for (const std::string& word : program.words) out += (out.empty() ? "" : " ") + quoted_word(word);
  return resuming ? out : out + " --resume";
}

/// Runs one kernel; its failure does not affect the others.
KernelReport report_on(const KernelRun& planned,
                       bool resume,
                       const Plugins& plugins,
                       const Program& program,
                       const InterruptWatch& interrupts) {
  ProgressPrinter printer(stderr);
  KernelReport report{.name = planned.spec.name, .result = std::nullopt, .problem = ""};
  std::string details;
  try {
    report.result = run_kernel(planned, resume, plugins, program, printer, interrupts.stop(),
                               interrupts.abandon());
  } catch (const Error& error) {
    report.problem = error.what();
    report.problem_code = error.code();
    details = details_text(error, "  ");
  } catch (const std::exception& error) {
    report.problem = message_of(error);
  }
  printer.clear();
  if (!report.problem.empty())
    std::fprintf(stderr, "warpath: %s: %s\n%s", report.name.c_str(), report.problem.c_str(),
                 details.c_str());
  return report;
}

/// Prints the value of the moves of every best kernel; a failure with one kernel does not affect
/// the others.
void attribute_all(const std::vector<KernelRun>& runs,
                   std::vector<KernelReport>& reports,
                   const Plugins& plugins,
                   const Program& program,
                   const InterruptWatch& interrupts) {
  for (std::size_t i = 0; i < reports.size() && !interrupts.stop().stop_requested(); ++i) {
    if (!reports[i].result || reports[i].result->speedup <= 1) continue;
    try {
      const auto attribution = attribute_run(
          {.folder = runs[i].folder, .runner = runs[i].runner, .options = runs[i].options}, plugins,
          program, interrupts);
      if (attribution) std::printf("\n%s", attribution_table(*attribution).c_str());
    } catch (const Error& error) {
      std::fprintf(stderr, "warpath: %s: attribution: %s\n", reports[i].name.c_str(), error.what());
      reports[i].problem = error.what();
      reports[i].problem_code = error.code();
    }
  }
}

/// The command that shows what was found: of one run its page, of several the table of all.
void say_pages(const std::vector<KernelRun>& runs,
               const std::vector<KernelReport>& reports,
               const Program& program) {
  const bool any = std::ranges::any_of(reports, [](const auto& r) { return r.result.has_value(); });
  if (!any || program.words.empty()) return;
  const std::filesystem::path& folder = runs.front().folder;
  const std::string what =
      quoted_word((runs.size() == 1 ? folder : folder.parent_path().parent_path()).string());
  const std::string name = quoted_word(program.words.front());
  std::fprintf(stderr, "warpath: the page on it: %s report %s%s\n", name.c_str(), what.c_str(),
               runs.size() == 1 ? ("; live: " + name + " watch " + what).c_str() : "");
}

/// Slice after slice, then the finals of each kernel.
std::vector<KernelReport> share_builds(const std::vector<KernelRun>& runs,
                                       BuildShares& shares,
                                       bool resume,
                                       const Plugins& plugins,
                                       const Program& program,
                                       const InterruptWatch& interrupts) {
  std::vector<KernelReport> reports(runs.size());
  const auto turn = [&](std::size_t i, std::int64_t builds, int finalists) {
    KernelRun slice = runs[i];
    slice.options.run.budget_builds = builds;
    slice.options.run.finalists = finalists;
    reports[i] =
        report_on(slice, resume || shares.kernels()[i].slices > 0, plugins, program, interrupts);
  };
  for (auto i = shares.next(); i && !interrupts.stop().stop_requested(); i = shares.next()) {
    turn(*i, shares.budget(*i), 0);
    shares.take(*i, reports[*i].result ? &*reports[*i].result : nullptr);
  }
  std::size_t begun = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const BuildShares::Kernel& kernel = shares.kernels()[i];
    if (kernel.slices > 0) begun = i + 1;
    const bool open = kernel.builds > 0 && !interrupts.stop().stop_requested();
    if (open && runs[i].options.run.finalists > 0)
      turn(i, kernel.builds, runs[i].options.run.finalists);
  }
  reports.resize(begun);
  return reports;
}

/// How builds are shared, if they are.
std::optional<BuildShares> shares_of(const Arguments& arguments,
                                     const std::vector<KernelRun>& runs) {
  const auto total = arguments.value("share-builds");
  if (!total) {
    for (const char* const flag : {"share-slice", "weight"}) {
      if (arguments.has(flag))
        throw bad_input(std::string("--") + flag, "", "--share-builds beside it");
    }
    return std::nullopt;
  }
  if (arguments.has("budget-builds"))
    throw bad_input("--budget-builds", *arguments.value("budget-builds"),
                    "--share-builds alone, which gives each kernel its builds");
  std::vector<std::string> names;
  for (const KernelRun& planned : runs) names.push_back(planned.spec.name);
  const auto slice = arguments.value("share-slice");
  return BuildShares(weighted_kernels(names, arguments.values("weight")),
                     static_cast<std::int64_t>(parse_count(*total, "--share-builds")),
                     slice ? static_cast<std::int64_t>(parse_count(*slice, "--share-slice")) : 10);
}

int run(const Arguments& arguments, const Program& program) {
  if (arguments.has("print-config")) {
    std::printf("%s\n", options_text(apply_layers(default_options(), arguments)).c_str());
    return 0;
  }
  const Plugins plugins;
  const bool resume = arguments.has("resume");
  const std::vector<KernelRun> runs = plan_batch(arguments, plugins, program);
  std::optional<BuildShares> shares = shares_of(arguments, runs);
  std::set<std::string> noticed;
  for (const KernelRun& planned : runs) {
    if (noticed.insert(planned.runner.name).second) show_notice(planned.runner, plugins.runners);
  }
  const InterruptWatch interrupts;
  std::vector<KernelReport> reports;
  const bool elsewhere = searched_on_site(runs.front());
  if (elsewhere && shares)
    throw bad_input("--share-builds", *arguments.value("share-builds"),
                    "no --site beside it: builds are shared on one machine");
  if (elsewhere) reports = run_on_site(runs, arguments, program, interrupts.stop());
  if (shares) reports = share_builds(runs, *shares, resume, plugins, program, interrupts);
  for (const KernelRun& planned : runs) {
    if (elsewhere || shares || interrupts.stop().stop_requested()) break;
    reports.push_back(report_on(planned, resume, plugins, program, interrupts));
  }
  std::printf("%s", summary_table(reports, runs.front().runner.text()).c_str());
  if (shares) std::printf("\n%s", shares_table(*shares).c_str());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::string line = reports[i].result ? narrowed_contract(runs[i].folder) : "";
    if (!line.empty())
      std::printf(
          "%s: the best kernel holds for less than the spec's: %s (best_kernel.cu says all of "
          "it)\n",
          reports[i].name.c_str(), line.c_str());
    if (!reports[i].result) continue;
    for (const std::string& size : size_lines(runs[i].folder))
      std::printf("%s: %s\n", reports[i].name.c_str(), size.c_str());
  }
  if (arguments.has("attribute")) attribute_all(runs, reports, plugins, program, interrupts);
  say_pages(runs, reports, program);
  if (!interrupts.stop().stop_requested()) return exit_code(reports);
  std::fprintf(stderr, "warpath: stopped with %zu of %zu kernels begun; to continue:\n  %s\n",
               reports.size(), runs.size(), resume_command(program, resume).c_str());
  return static_cast<int>(ErrorCode::environment);
}

std::vector<Flag> run_flags() {
  using enum Flag::Takes;
  std::vector<Flag> flags{
      {.name = "input",
       .value = "SPEC|DIR...",
       .help = "kernel specs: files, or folders of them",
       .takes = several},
      {.name = "outdir", .value = "DIR", .help = "where run folders go: DIR/kernels/<name> (out)"},
      {.name = "name",
       .value = "PATTERN",
       .help = "only kernels of this name; * and ? stand for any text",
       .takes = repeated},
      {.name = "runner", .value = "NAME[:ARG]", .help = runner_help() + " (auto)"},
      {.name = "no-llm",
       .value = "",
       .help = "no language model proposes moves, whatever the options say; so it is without "
               "--llm-model and a key",
       .takes = nothing},
      {.name = "proposals",
       .value = "FILE...",
       .help = "candidates from elsewhere, a JSON object a line (docs/llm.md): tried first, under "
               "the same gates",
       .takes = several},
      {.name = "share-builds",
       .value = "N",
       .help = "evaluations of all kernels together: slice after slice to the one whose weight "
               "times distance to its bound is largest"},
      {.name = "share-slice", .value = "N", .help = "evaluations of a slice (10)"},
      {.name = "weight",
       .value = "NAME=W",
       .help = "with --share-builds: how much a kernel counts, such as its share of an "
               "application's time (1)",
       .takes = repeated},
      {.name = "attribute",
       .value = "",
       .help = "afterwards find out what each move of the best kernel is worth, as `warpath "
               "attribute` does",
       .takes = nothing},
      {.name = "resume",
       .value = "",
       .help = "continue the runs in the output folder with their recorded options; without "
               "--input all of them",
       .takes = nothing}};
  for (Flag& flag : option_flags()) flags.push_back(std::move(flag));
  flags.push_back({.name = "print-config",
                   .value = "",
                   .help = "print the resolved options as JSON and stop",
                   .takes = nothing});
  return flags;
}

}  // namespace

Command run_command() {
  return {.name = "run",
          .usage = "--input SPEC|DIR... [FLAGS]",
          .help = "search for faster versions of one or many kernels",
          .flags = run_flags(),
          .run = run};
}

void register_command_run(CommandRegistry& registry) {
  registry.push_back(run_command());
}

}  // namespace warpath
