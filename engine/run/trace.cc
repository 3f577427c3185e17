#include "engine/run/trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {
namespace {

std::string in_ticks(std::string_view text) {
  std::string out(text.substr(0, text.find('\n')));
  std::ranges::replace(out, '`', '\'');
  return "`" + out + "`";
}

std::string label(const Campaign& campaign, NodeId node) {
  return node == NodeId{0} ? "baseline" : campaign.space().instance(node).text();
}

struct Figures {
  double median = 0, mean = 0, deviation = 0, min = 0, p10 = 0, p90 = 0;
  std::size_t count = 0;
};

Figures figures(const std::vector<double>& samples) {
  Welford sums;
  for (const double x : samples) sums.add(x);
  return {.median = median(samples),
          .mean = samples.empty() ? std::numeric_limits<double>::quiet_NaN() : sums.mean,
          .deviation = sums.deviation(),
          .min = quantile(samples, 0),
          .p10 = quantile(samples, 0.1),
          .p90 = quantile(samples, 0.9),
          .count = samples.size()};
}

std::string csv_figures(const Figures& f) {
  std::string out = std::to_string(f.count);
  for (const double x : {f.median, f.mean, f.deviation, f.min, f.p10, f.p90})
    out += "," + (std::isfinite(x) ? number_text(x) : "");
  return out;
}

/// What `t` is compared with: the baseline's launches beside it, else those of its own evaluation
/// in the same state of the cache.
const std::vector<double>* baseline_samples(const Outcome* baseline, const WorkloadTiming& t) {
  if (!t.baseline_samples_ns.empty()) return &t.baseline_samples_ns;
  if (baseline == nullptr) return nullptr;
  const auto it = std::ranges::find_if(baseline->timings, [&](const WorkloadTiming& b) {
    return b.workload == t.workload && b.cache == t.cache;
  });
  return it == baseline->timings.end() ? nullptr : &it->samples_ns;
}

/// The last steps of a path; of a long one the others are counted.
std::string route(const Campaign& campaign, const std::vector<NodeId>& path) {
  constexpr std::size_t kShown = 8;
  std::string out = "baseline";
  const std::size_t left_out = path.size() > kShown + 1 ? path.size() - kShown - 1 : 0;
  if (left_out > 0) out += " > " + std::to_string(left_out) + " moves";
  for (std::size_t i = left_out + 1; i < path.size(); ++i) {
    out += " > " + in_ticks(label(campaign, path[i]));
    if (const double s = campaign.speedup(path[i]); i + 1 < path.size() && s > 0)
      out += " (" + ratio_text(s) + ")";
  }
  return out;
}

std::string times_line(const Outcome* baseline, const Outcome& outcome) {
  std::string out;
  for (const WorkloadTiming& t : outcome.timings) {
    out += out.empty() ? "" : "; ";
    out += t.workload + " " + ms_text(median(t.samples_ns) * 1e-6) + " ms (" +
           std::to_string(t.samples_ns.size()) + " samples, " + t.cache + ")";
    const std::vector<double>* reference = baseline_samples(baseline, t);
    if (reference != nullptr) out += " " + ratio_text(median(*reference) / median(t.samples_ns));
  }
  return out;
}

std::string common_lines(const Outcome* baseline,
                         const Outcome& outcome,
                         const OutcomeReader& findings = {}) {
  std::string out = "- verdict: " + outcome.verdict.summary() + "\n";
  if (!outcome.timings.empty()) out += "- time: " + times_line(baseline, outcome) + "\n";
  if (!outcome.log.empty()) out += "- log: " + in_ticks(outcome.log) + "\n";
  if (findings) out += findings(outcome);
  out += "- spent: compile " + format("%.3f", outcome.compile_seconds) + " s, run " +
         format("%.3f", outcome.run_seconds) + " s\n\n";
  return out;
}

}  // namespace

std::string trace_title(const RecordNames& names, std::uint64_t seed) {
  return "# " + names.name + "\n\nRunner " + names.runner + " on " + names.device + ", seed " +
         std::to_string(seed) + ". Speed-up = baseline time / candidate time, from medians.\n\n";
}

std::string trace_session(int session, double at) {
  return "*Session " + std::to_string(session) + " begins at " + utc_text(at) + ".*\n\n";
}

std::string trace_baseline(const Campaign& campaign,
                           const RecordNames& names,
                           const BaselineEvent& event) {
  const std::string& problem = campaign.baseline_problem();
  const std::string what = problem.empty() ? ms_text(campaign.baseline_ms()) + " ms"
                                           : "cannot be searched: " + in_ticks(problem);
  return "## Baseline " + event.key.short_hex() + ": " + what + "\n\n" +
         common_lines(campaign.space().outcome(NodeId{0}).get(), event.outcome, names.findings);
}

std::string trace_outcome(const Campaign& campaign,
                          const RecordNames& names,
                          const OutcomeEvent& event,
                          const Campaign::Applied& applied,
                          const std::vector<NodeId>& path) {
  const VariantSpace& space = campaign.space();
  std::string head =
      "## " + std::to_string(event.sequence) + " " + space.key(applied.node).short_hex() + ": ";
  head +=
      applied.speedup > 0 ? ratio_text(applied.speedup) : std::string(name(event.outcome.status));
  if (applied.improved) head += ", the best so far";
  return head + "\n\n- path: " + route(campaign, path) +
         "\n- candidate: " + in_ticks(label(campaign, applied.node)) + " by " +
         std::string(space.source(applied.node)) + " on " +
         space.key(space.parent(applied.node)).short_hex() + "\n" +
         common_lines(space.outcome(NodeId{0}).get(), event.outcome, names.findings);
}

namespace {

/// `head`: what was done, up to its colon.
template <class E>
std::string trace_again(const Campaign& campaign,
                        std::string head,
                        const E& event,
                        const Finals::Applied& applied) {
  const Outcome* const again = campaign.finals().baseline();
  const std::shared_ptr<const Outcome> searched = campaign.space().outcome(NodeId{0});
  const Outcome* const baseline = again != nullptr ? again : searched.get();
  if (event.node == NodeId{0}) {
    head += applied.problem.empty() ? "the baseline timed again"
                                    : "the baseline cannot be timed again, the search's counts: " +
                                          in_ticks(applied.problem);
    return head + "\n\n" + common_lines(baseline, event.outcome);
  }
  head +=
      applied.speedup > 0 ? ratio_text(applied.speedup) : std::string(name(event.outcome.status));
  return head + ", in the search " + ratio_text(campaign.speedup(event.node)) +
         "\n\n- candidate: " + in_ticks(label(campaign, event.node)) + "\n" +
         common_lines(baseline, event.outcome);
}

}  // namespace

std::string trace_final(const Campaign& campaign,
                        const FinalEvent& event,
                        const Finals::Applied& applied) {
  return trace_again(campaign, "## Final " + event.key.short_hex() + ": ", event, applied);
}

std::string trace_final(const Campaign& campaign,
                        const HeatEvent& event,
                        const Finals::Applied& applied) {
  return trace_again(
      campaign,
      "## Heat " + event.key.short_hex() + ", reading " + std::to_string(event.reading + 1) + ": ",
      event, applied);
}

std::string ledger_header() {
  return "timestamp,session,sequence,key,parent,move,source,status,workload,cache,"
         "baseline_samples,baseline_median_ns,baseline_mean_ns,baseline_std_ns,baseline_min_ns,"
         "baseline_p10_ns,baseline_p90_ns,"
         "samples,median_ns,mean_ns,std_ns,min_ns,p10_ns,p90_ns,"
         "speedup,objective_speedup,compile_s,run_s,valid,verdict,runner,device,revision\n";
}

std::string ledger_rows(const Campaign& campaign,
                        const RecordNames& names,
                        const LedgerEntry& entry) {
  const VariantSpace& space = campaign.space();
  const NodeId node = entry.node;
  const Outcome& outcome = entry.outcome;
  const bool root = node == NodeId{0};
  const std::string head =
      utc_text(entry.at) + "," + std::to_string(entry.session) + "," + entry.sequence + "," +
      space.key(node).hex() + "," + (root ? "" : space.key(space.parent(node)).hex()) + "," +
      csv_field(label(campaign, node)) + "," + csv_field(std::string(space.source(node))) + "," +
      std::string(name(outcome.status)) + ",";
  const std::string tail = (entry.speedup > 0 ? number_text(entry.speedup) : "") + "," +
                           number_text(outcome.compile_seconds) + "," +
                           number_text(outcome.run_seconds) + "," +
                           (outcome.status == Status::ok ? "1" : "0") + "," +
                           csv_field(outcome.verdict.summary()) + "," + csv_field(names.runner) +
                           "," + csv_field(names.device) + "," + csv_field(names.revision) + "\n";
  const Outcome* const baseline = entry.baseline != nullptr ? entry.baseline : &outcome;
  const auto row = [&](const WorkloadTiming& t) {
    const std::vector<double>* reference = baseline_samples(baseline, t);
    const Figures before = figures(reference == nullptr ? std::vector<double>() : *reference);
    const Figures after = figures(t.samples_ns);
    const double speedup = before.median / after.median;
    return head + csv_field(t.workload) + "," + csv_field(t.cache) + "," + csv_figures(before) +
           "," + csv_figures(after) + "," + (std::isfinite(speedup) ? number_text(speedup) : "") +
           "," + tail;
  };
  if (outcome.timings.empty()) return row({});
  std::string out;
  for (const WorkloadTiming& t : outcome.timings) out += row(t);
  return out;
}

}  // namespace warpath
