#include "experiments/console/progress.h"

#include "engine/base/detailed_error.h"
#include "engine/base/format.h"
#include "engine/plugin/objective.h"
#include "experiments/console/summary_table.h"
#include "experiments/setup/runner_choice.h"

namespace warpath {
namespace {

/// Number of evaluations with a status other than ok.
std::uint64_t rejected_count(const StatusCounts& counts) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i != static_cast<std::size_t>(Status::ok)) sum += counts[i];
  }
  return sum;
}

/// Lines of a log, indented, without the last line feed.
std::string trimmed_lines(const std::string& log) {
  std::string out = indented_lines(log, "  ");
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace

std::string progress_line(const std::string& name,
                          const SessionProgress& progress,
                          std::size_t width) {
  if (progress.baseline_ms <= 0)
    return fitted_line(
        {{name, 0}, {"measuring the baseline, " + duration_text(progress.seconds), 0, " "}}, width);
  return tally_line({.name = name,
                     .done = static_cast<double>(progress.builds),
                     .planned = static_cast<double>(progress.budget_builds),
                     .per_second = progress.builds_per_second},
                    {{"best " + ratio_text(progress.best_speedup), 0},
                     {std::to_string(rejected_count(progress.by_status)) + " rejected", 2}},
                    width);
}

void ProgressPrinter::on_start(const SessionStart& start) {
  name_ = start.spec.name;
  news_.clear();
  status_.hasten();
  std::string line = name_ + ": " + start.runner + " runner on " + start.device.name;
  if (const auto label = timing_label(start.runner); !label.empty())
    line += " (" + std::string(label) + ")";
  line += ", " + std::to_string(start.budget_builds) + " builds";
  if (start.resumed) line += ", resumed after " + std::to_string(start.builds);
  status_.print(line + ", " + start.folder.string());
}

void ProgressPrinter::on_note(std::string_view line) {
  status_.print(name_ + ": " + std::string(line));
}

void ProgressPrinter::on_outcome(const OutcomeReport& report) {
  if (report.sequence == kBaselineSequence) {
    if (report.outcome.status == Status::ok)
      news_ = "baseline verified: " + report.outcome.verdict.summary();
    else if (report.outcome.log.find('\n') != std::string::npos)
      status_.print(name_ + ": the baseline:\n" + trimmed_lines(report.outcome.log));
  } else if (report.improved) {
    news_ = "best " + ratio_text(report.speedup) + " by " + report.move;
  }
}

void ProgressPrinter::on_final(const FinalReport& report) {
  print_again("final: ", report);
}

void ProgressPrinter::on_heat(const FinalReport& report) {
  print_again("heat: ", report);
}

void ProgressPrinter::print_again(const std::string& what, const FinalReport& report) {
  std::string line = name_ + ": " + what;
  if (report.node == NodeId{0}) {
    const bool good = report.speedup > 0;
    if (report.outcome.status == Status::not_measured)
      return status_.print(
          line + "baseline not measured, the search's counts: " + report.outcome.log, Tone::bad);
    if (good) return status_.print(line + "baseline timed again");
    return status_.print(
        line + "baseline refused, the search's counts: " + report.outcome.verdict.summary(),
        Tone::bad);
  }
  Tone tone = Tone::bad;
  if (report.outcome.status == Status::not_measured) {
    line += "not measured (" + report.outcome.log + ")";
  } else if (report.speedup > 0) {
    line += ratio_text(report.speedup);
    tone = report.speedup > 1 ? Tone::good : Tone::plain;
  } else {
    line += "refused (" + report.outcome.verdict.summary() + ")";
  }
  status_.print(
      line + ", " + ratio_text(report.searched_speedup) + " in the search, by " + report.move,
      tone);
}

void ProgressPrinter::on_progress(const SessionProgress& progress) {
  const auto line = [&](std::size_t width) { return progress_line(name_, progress, width); };
  if (status_.show(line, news_)) news_.clear();
}

void ProgressPrinter::on_finish(const SessionResult& result) {
  if (!result.baseline_ok)
    return status_.print(name_ + ": not searched: " + result.stop_reason, Tone::bad);
  if (result.left_out > 0)
    status_.print(name_ + ": " + std::to_string(result.left_out) +
                      " more finalists were not timed: the time of the finals was over",
                  Tone::bad);
  if (!result.measured || !result.improved) {
    for (const Dismissal& one : result.dismissed) {
      status_.print(name_ + ": " + ratio_text(one.searched_speedup) + " in the search, " +
                        dismissal_text(one) + ", by " + one.move,
                    Tone::bad);
    }
  }
  if (!result.measured)
    return status_.print(name_ + ": not measured, the device is busy: no speed-up is reported",
                         Tone::bad);
  status_.print(name_ + ": " + ms_text(result.baseline_ms) + " ms -> " + ms_text(result.best_ms) +
                    " ms, " + ratio_text(result.speedup, result.speedup_interval) + ", after " +
                    std::to_string(result.builds) + " builds in " + duration_text(result.seconds) +
                    " (" + result.stop_reason + ")",
                result.improved ? Tone::good : Tone::plain);
}

}  // namespace warpath
