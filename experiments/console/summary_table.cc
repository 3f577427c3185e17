#include "experiments/console/summary_table.h"

#include "engine/base/format.h"
#include "experiments/console/table_text.h"
#include "experiments/setup/runner_choice.h"

namespace warpath {
namespace {

using Row = std::vector<std::string>;

/// "wrong_result 2, timed_out 1"; "-" if nothing was rejected.
std::string rejected_text(const StatusCounts& counts) {
  std::string out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i == static_cast<std::size_t>(Status::ok) || counts[i] == 0) continue;
    out +=
        (out.empty() ? "" : ", ") + std::string(kStatusNames[i]) + " " + std::to_string(counts[i]);
  }
  return out.empty() ? "-" : out;
}

}  // namespace

std::string dismissal_text(const Dismissal& one) {
  if (one.status == Status::not_measured) return "not measured: " + one.detail;
  return "refused by " + (one.gate.empty() ? std::string(name(one.status)) : one.gate) +
         (one.detail.empty() ? "" : ": " + one.detail);
}

namespace {

Row row(const KernelReport& report) {
  if (!report.result) return {report.name, "-", "-", "-", "-", "-", "failed: " + report.problem};
  const SessionResult& r = *report.result;
  if (!r.baseline_ok)
    return {report.name, "-", "-", "-", std::to_string(r.builds), "-", "failed: " + r.stop_reason};
  if (!r.measured) {
    return {report.name,
            ms_text(r.baseline_ms),
            "-",
            "-",
            std::to_string(r.builds),
            rejected_text(r.by_status),
            "not measured, the device is busy: " +
                (r.dismissed.empty() ? "" : r.dismissed.front().detail)};
  }
  // The reason why a search that found a gain lost it in the finals.
  const bool lost =
      !r.improved && !r.dismissed.empty() && static_cast<int>(r.dismissed.size()) == r.finalists;
  const std::string judgement =
      r.interrupted ? "interrupted"
      : r.improved  ? "improved"
      : lost
          ? "no gain, every finalist was refused, the first " + dismissal_text(r.dismissed.front())
      : r.speedup > 1 && r.speedup_interval && r.speedup_interval->low <= 1
          ? "no gain that is certain: the interval includes 1"
          : "no gain";
  return {report.name,
          ms_text(r.baseline_ms),
          ms_text(r.best_ms),
          ratio_text(r.speedup, r.speedup_interval),
          std::to_string(r.builds),
          rejected_text(r.by_status),
          judgement + ", " + r.verdict.summary()};
}

}  // namespace

std::string summary_table(const std::vector<KernelReport>& reports,
                          const std::string& runner_text) {
  std::vector<Row> rows{
      {"name", "baseline ms", "best ms", "speed-up", "builds", "rejected", "verdict"}};
  for (const KernelReport& report : reports) rows.push_back(row(report));
  return timing_heading(runner_text) + aligned_text(rows, {1, 2, 3, 4});
}

int exit_code(const std::vector<KernelReport>& reports) {
  constexpr int kInfrastructure = 3, kBadInput = 64, kNoGain = 2;
  bool infrastructure = false, refused = false, improved = false;
  for (const KernelReport& report : reports) {
    const int code =
        report.result ? (report.result->interrupted ? kInfrastructure : report.result->exit_code())
                      : static_cast<int>(report.problem_code);
    infrastructure = infrastructure || code == kInfrastructure;
    refused = refused || code == kBadInput;
    improved = improved || code == 0;
  }
  return infrastructure ? kInfrastructure : refused ? kBadInput : improved ? 0 : kNoGain;
}

}  // namespace warpath
