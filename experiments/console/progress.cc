#include "experiments/console/progress.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cmath>

#include "engine/base/detailed_error.h"
#include "engine/base/format.h"
#include "engine/plugin/objective.h"
#include "experiments/console/summary_table.h"
#include "experiments/setup/runner_choice.h"

namespace warpath {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlain{10};
constexpr std::size_t kBarWidth = 20;

std::size_t terminal_width(std::FILE* out) {
  winsize size{};
  if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 80;
  return size.ws_col - 1U;
}

std::string bar(double share) {
  const auto full =
      static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(kBarWidth));
  return "[" + std::string(full, '#') + std::string(kBarWidth - full, '-') + "]";
}

/// Lines of a log, indented, without the last line feed.
std::string trimmed_lines(const std::string& log) {
  std::string out = indented_lines(log, "  ");
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto s = static_cast<long long>(std::llround(std::max(0.0, seconds)));
  if (s < 60) return format("%lld s", s);
  if (s < 3600) return format("%lld min %lld s", s / 60, s % 60);
  return format("%lld h %lld min", s / 3600, s % 3600 / 60);
}

std::uint64_t rejected_count(const StatusCounts& counts) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i != static_cast<std::size_t>(Status::ok)) sum += counts[i];
  }
  return sum;
}

std::string fitted_line(std::vector<LinePart> parts, std::size_t width) {
  const auto joined = [&] {
    std::string line;
    for (const LinePart& part : parts) line += (line.empty() ? "" : part.blank) + part.text;
    return line;
  };
  std::erase_if(parts, [](const LinePart& part) { return part.text.empty(); });
  std::string line = joined();
  while (line.size() > width) {
    const auto least = std::ranges::max_element(parts, {}, &LinePart::rank);
    if (least == parts.end() || least->rank == 0) break;
    parts.erase(least);
    line = joined();
  }
  if (line.size() <= width || parts.empty()) return line;
  std::string& first = parts.front().text;
  first.resize(first.size() - std::min(first.size(), line.size() - width));
  return joined().substr(0, width);
}

std::string progress_line(const std::string& name,
                          const SessionProgress& progress,
                          std::size_t width) {
  if (progress.baseline_ms <= 0)
    return fitted_line(
        {{name, 0}, {"measuring the baseline, " + duration_text(progress.seconds), 0, " "}}, width);
  const auto budget = static_cast<double>(progress.budget_builds);
  const auto builds = static_cast<double>(progress.builds);
  const bool paced = progress.builds_per_second > 0;
  return fitted_line(
      {{name, 0},
       {budget > 0 ? bar(builds / budget) : "", 3, " "},
       {format("%llu/%llu", static_cast<unsigned long long>(progress.builds),
               static_cast<unsigned long long>(progress.budget_builds)),
        0, " "},
       {format("best %.3fx", progress.best_speedup), 0},
       {format("%llu rejected",
               static_cast<unsigned long long>(rejected_count(progress.by_status))),
        2},
       {paced ? format("%.3g/s", progress.builds_per_second) : "", 1},
       {paced ? "ETA " + duration_text((budget - builds) / progress.builds_per_second) : "", 0}},
      width);
}

void ProgressPrinter::print_line(const std::string& line) {
  clear();
  std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
}

void ProgressPrinter::clear() {
  if (drawn_) std::fputs("\r\033[K", out_);
  drawn_ = false;
}

void ProgressPrinter::on_start(const SessionStart& start) {
  name_ = start.spec.name;
  news_.clear();
  last_ = {};
  std::string line = name_ + ": " + start.runner + " runner on " + start.device.name;
  if (const auto label = timing_label(start.runner); !label.empty())
    line += " (" + std::string(label) + ")";
  line += format(", %llu builds", static_cast<unsigned long long>(start.budget_builds));
  if (start.resumed)
    line += format(", resumed after %llu", static_cast<unsigned long long>(start.builds));
  print_line(line + ", " + start.folder.string());
}

void ProgressPrinter::on_note(std::string_view line) {
  print_line(name_ + ": " + std::string(line));
}

void ProgressPrinter::on_outcome(const OutcomeReport& report) {
  if (report.sequence == kBaselineSequence) {
    if (report.outcome.status == Status::ok)
      news_ = "baseline verified: " + report.outcome.verdict.summary();
    else if (report.outcome.log.find('\n') != std::string::npos)
      print_line(name_ + ": the baseline:\n" + trimmed_lines(report.outcome.log));
  } else if (report.improved) {
    news_ = format("best %.3fx by ", report.speedup) + report.move;
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
      return print_line(line + "baseline not measured, the search's counts: " + report.outcome.log);
    return print_line(line + (good ? "baseline timed again"
                                   : "baseline refused, the search's counts: " +
                                         report.outcome.verdict.summary()));
  }
  if (report.outcome.status == Status::not_measured) {
    line += "not measured (" + report.outcome.log + ")";
  } else {
    line += report.speedup > 0 ? format("%.3fx", report.speedup)
                               : "refused (" + report.outcome.verdict.summary() + ")";
  }
  print_line(line + format(", %.3fx in the search, by ", report.searched_speedup) + report.move);
}

void ProgressPrinter::on_progress(const SessionProgress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (terminal_) {
    if (now - last_ < kRedraw) return;
    last_ = now;
    std::fprintf(out_, "\r\033[K%s", progress_line(name_, progress, terminal_width(out_)).c_str());
    std::fflush(out_);
    drawn_ = true;
    return;
  }
  if (now - last_ < kPlain && (news_.empty() || now - last_ < std::chrono::seconds(1))) return;
  last_ = now;
  print_line(progress_line(name_, progress, SIZE_MAX) + (news_.empty() ? "" : "  (" + news_ + ")"));
  news_.clear();
}

void ProgressPrinter::on_finish(const SessionResult& result) {
  if (!result.baseline_ok) return print_line(name_ + ": not searched: " + result.stop_reason);
  if (result.left_out > 0)
    print_line(name_ + format(": %d more finalists were not timed: the time of the finals was over",
                              result.left_out));
  if (!result.measured || !result.improved) {
    for (const Dismissal& one : result.dismissed) {
      print_line(name_ + format(": %.3fx in the search, ", one.searched_speedup) +
                 dismissal_text(one) + ", by " + one.move);
    }
  }
  if (!result.measured)
    return print_line(name_ + ": not measured, the device is busy: no speed-up is reported");
  print_line(name_ + format(": %.4f ms -> %.4f ms, ", result.baseline_ms, result.best_ms) +
             ratio_text(result.speedup, result.speedup_interval) +
             format(", after %llu builds in ", static_cast<unsigned long long>(result.builds)) +
             duration_text(result.seconds) + " (" + result.stop_reason + ")");
}

}  // namespace warpath
