#include "experiments/evaluate/site_batch.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "experiments/setup/best_summary.h"
#include "experiments/setup/revision.h"
#include "runners/cluster/cluster.h"

namespace warpath {
namespace {

using cluster::Cluster;

/// The command line of this batch for one of its kernels, on the machine that searches it.
std::vector<std::string> words_for(const KernelRun& planned, const Arguments& arguments) {
  std::vector<std::string> words{"run"};
  for (std::string& word : arguments.line_without({"site", "name", "resume", "attribute"}))
    words.push_back(std::move(word));
  words.push_back("--name=" + planned.spec.name);
  words.emplace_back("--resume");
  words.emplace_back("--set=cluster.kernels=");
  return words;
}

KernelReport report_of(const KernelRun& planned, const Cluster::CommandEnd& end) {
  KernelReport report{.name = planned.spec.name, .result = std::nullopt, .problem = ""};
  try {
    if (auto summary = read_best_summary(planned.folder)) report.result = std::move(*summary);
  } catch (const Error& error) {
    report.problem = error.what();
  }
  const bool ended = end.code == 0 || end.code == kNotAsExpected;
  if (ended && report.result) return report;
  // a result that is there is that of an earlier part
  if (!report.result || !report.result->interrupted) report.result.reset();
  if (report.problem.empty())
    report.problem =
        end.last_line.empty() ? "its engine ended with " + std::to_string(end.code) : end.last_line;
  if (end.code == static_cast<int>(ErrorCode::bad_input))
    report.problem_code = ErrorCode::bad_input;
  return report;
}

}  // namespace

std::vector<KernelReport> run_on_site(const std::vector<KernelRun>& runs,
                                      const Arguments& arguments,
                                      const Program& program,
                                      const std::stop_token& stop) {
  const auto machines = Cluster::shared({.options = runs.front().options.of<ClusterOptions>(),
                                         .program = program.path,
                                         .version = std::string(revision())});
  machines->take_commands();
  const std::string directory = std::filesystem::current_path().string();
  std::vector<std::optional<KernelReport>> reports(runs.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;  // of the next two
  std::size_t done = 0;
  std::string problem;
  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size() && !stop.stop_requested(); i = next++) {
      const KernelRun& planned = runs[i];
      cluster::RunCommand command;
      command.words = words_for(planned, arguments);
      command.directory = directory;
      try {
        const auto end = machines->run_command(std::move(command), stop);
        if (!end) return;
        reports[i] = report_of(planned, *end);
      } catch (const Error& error) {  // no machine is left
        const std::lock_guard lock(mutex);
        problem = error.what();
        return;
      }
      const std::lock_guard lock(mutex);
      const KernelReport& report = *reports[i];
      std::fprintf(
          stderr, "warpath: %s: %s; %zu of %zu kernels done\n", report.name.c_str(),
          report.result ? ratio_text(report.result->speedup).c_str() : report.problem.c_str(),
          ++done, runs.size());
    }
  };
  {
    const std::size_t width = std::min(runs.size(), static_cast<std::size_t>(machines->width()));
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < width; ++i) threads.emplace_back(work);
  }
  std::vector<KernelReport> out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!reports[i] && problem.empty()) continue;  // stopped before
    out.push_back(
        reports[i]
            ? std::move(*reports[i])
            : KernelReport{.name = runs[i].spec.name, .result = std::nullopt, .problem = problem});
  }
  return out;
}

}  // namespace warpath
