#include "experiments/report/run_report.h"

#include <algorithm>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/json/json_record.h"
#include "engine/run/record.h"
#include "experiments/evaluate/attributing.h"
#include "experiments/report/derivation_report.h"
#include "experiments/setup/runner_choice.h"
#include "experiments/setup/served_sizes.h"
#include "moves/edit/source_contract.h"
#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/findings.h"
#include "priors/evidence/signatures.h"

namespace warpath {
namespace {

constexpr std::size_t kShownOpcodes = 12;

/// Of the end of the search where it was taken, else of the search.
const Outcome& last_outcome(const RecordedNode& node) {
  return node.final_outcome && node.final_outcome->status == Status::ok ? *node.final_outcome
                                                                        : *node.outcome;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

/// The resource that bounds a launch most, and how much of that bound is reached.
struct BoundShare {
  std::string resource;
  double bound_ns = 0, time_ns = 0;
  [[nodiscard]] std::string text() const {
    if (bound_ns <= 0 || time_ns <= 0) return "unknown";
    return percent_text(bound_ns / time_ns, 1) + " of " + resource + " (" +
           ms_text(bound_ns * 1e-6) + " ms of " + ms_text(time_ns * 1e-6) + " ms)";
  }
};

BoundShare bound_share(const Outcome& outcome) {
  BoundShare out;
  out.time_ns = measured_time_ns(outcome);
  if (!outcome.diagnosis) return out;
  for (const auto& [resource, bound] : outcome.diagnosis->time_bound_ns) {
    if (bound.value <= out.bound_ns) continue;
    out.bound_ns = bound.value;
    out.resource = resource;
  }
  return out;
}

void add_result(const RecordedRun& run, std::size_t best, Document& to) {
  const RecordedNode& node = run.nodes()[best];
  std::vector<Document::Row> rows{{"", ""}};
  rows.push_back({"runner", run.run().runner});
  rows.push_back({"seed", std::to_string(run.run().seed)});
  rows.push_back({"kernel", node.key.hex()});
  rows.push_back(
      {"speed-up",
       known_ratio_text(node.timed_again ? node.final_speedup : node.speedup) +
           (node.timed_again ? " at the end, " + known_ratio_text(node.speedup) + " in the search"
                             : " in the search")});
  rows.push_back({"verdict", valid_utf8(last_outcome(node).verdict.summary())});
  rows.push_back({"variants", std::to_string(run.nodes().size())});
  to.table(std::move(rows));
  for (const WorkloadTiming& timing : last_outcome(node).timings) {
    std::string line = timing.workload + " (" + timing.cache +
                       "): " + ms_text(median(timing.samples_ns) * 1e-6) + " ms";
    if (!timing.baseline_samples_ns.empty())
      line +=
          ", the baseline beside it " + ms_text(median(timing.baseline_samples_ns) * 1e-6) + " ms";
    to.paragraph(line);
  }
  if (const auto label = timing_label(run.run().runner); !label.empty())
    to.paragraph("Times are " + std::string(label) + ", not a GPU's.");
}

/// Finalists that the last evaluation refused or could not time: by what, and by how much.
void add_dismissed(const RecordedRun& run, Document& to) {
  std::vector<Document::Row> rows{
      {"kernel", "speed-up in the search", "move", "what became of it"}};
  for (const std::size_t i : run.ranking()) {
    const RecordedNode& node = run.nodes()[i];
    if (i == 0 || !node.final_outcome || node.final_outcome->status == Status::ok) continue;
    const Outcome& outcome = *node.final_outcome;
    const std::string what = outcome.status == Status::not_measured ? "not measured: " + outcome.log
                             : outcome.verdict.passed() ? std::string(name(outcome.status))
                                                        : outcome.verdict.summary();
    rows.push_back(
        {node.key.short_hex(), known_ratio_text(node.speedup), node.move, valid_utf8(what)});
  }
  if (rows.size() == 1) return;
  to.heading(2, "Finalists that are not reported");
  to.table(std::move(rows));
}

/// Which kernel runs which size, where the device has several workloads.
void add_sizes(const RecordedRun& run, std::size_t best, const Variant& kernel, Document& to) {
  const std::vector<ServedSize> sizes = served_sizes(run, best);
  if (sizes.size() < 2) return;
  to.heading(2, "Sizes");
  to.table(size_rows(sizes, kernel));
}

void add_contracts(const RecordedRun& run, const Variant& kernel, Document& to) {
  to.heading(2, "What it relies on");
  const auto contracts = source_contracts(run.spec(), run.device(), kernel);
  const std::vector<const Variant*> kernels = kernels_of(kernel);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels.size() > 1) to.heading(3, "For " + condition_text(kernels[i]->when));
    if (contracts[i].narrowed)
      to.paragraph(
          "It holds for less than the kernel of the spec: launched otherwise its results are "
          "undefined. " +
          version_file("best_kernel", i) + " has a function that checks arguments.");
    std::vector<std::string> terms;
    for (const std::string& line : contracts[i].lines()) terms.push_back(valid_utf8(line));
    to.list(terms);
  }
}

void add_path(const RecordedRun& run, std::size_t best, Document& to) {
  to.heading(2, "Path");
  std::vector<Document::Row> rows{{"kernel", "speed-up in the search", "step", "move", "proposer"}};
  double before = 0;
  for (const std::size_t i : run.path(best)) {
    const RecordedNode& step = run.nodes()[i];
    const std::string ratio = before > 0 ? known_ratio_text(step.speedup / before) : "-";
    rows.push_back({step.key.short_hex(), known_ratio_text(step.speedup), ratio, step.move,
                    step.proposer.empty() ? "-" : step.proposer});
    if (step.speedup > 0) before = step.speedup;
  }
  to.table(std::move(rows));
}

void add_attribution(const Attribution& a, const RecordedNode& node, Document& to) {
  to.heading(2, "What each move is worth");
  to.paragraph("Speed-up of the kernel over itself without the move, " + std::to_string(a.repeat) +
               " evaluations each at " + a.stage + ", 95 % intervals. All moves together: " +
               ablation_text(a.whole) + ". The kernel against itself: " + ablation_text(a.control) +
               "; what is within " + percent_text(a.least_gain, 2) + " of 1 is no difference.");
  const double said = node.timed_again ? node.final_speedup : node.speedup;
  const Interval& whole = a.whole.interval;
  if (said > 0 && (said < whole.low || said > whole.high)) {
    to.paragraph(
        "This is not the " + ratio_text(said) +
        " above: that is one reading at the end of the run, this is " + std::to_string(a.repeat) +
        " readings of a later session. They disagree by more than the interval; what can be relied "
        "on is the lower one.");
  }
  std::vector<Document::Row> rows{
      {"move", "verdict", "speed-up", "move that undoes it", "speed-up over the undone", "reason"}};
  for (const MoveAttribution& move : a.moves) {
    rows.push_back({move.move, std::string(name(move.verdict)), ablation_text(move.without),
                    move.reverse_move.empty() ? "-" : move.reverse_move,
                    move.reverse_move.empty() ? "-" : ablation_text(move.reverse), move.why});
  }
  to.table(std::move(rows));
  to.heading(2, "What the code shows");
  if (a.code_arch.empty()) return to.paragraph("No code was looked at: " + a.code_why + ".");
  to.paragraph("Code for " + a.code_arch +
               (a.code_decides ? "." : ", which is not what was timed: it decides nothing."));
  std::vector<Document::Row> code{
      {"move", "in the code", "seen in", "features before and after", "opcodes before and after"}};
  for (const MoveAttribution& move : a.moves) {
    if (!move.code) continue;
    std::string readings;
    for (const FeatureReading& r : move.code->readings) {
      if (r.before == r.after && r.before_in_loops == r.after_in_loops) continue;
      readings +=
          (readings.empty() ? "" : ", ") + r.feature + format(" %g to %g", r.before, r.after);
      if (r.before_in_loops != r.after_in_loops)
        readings += format(" (in loops %g to %g)", r.before_in_loops, r.after_in_loops);
    }
    const std::optional<bool> realised = move.code->realised;
    code.push_back({move.move,
                    !realised   ? "unknown: " + move.code->why
                    : *realised ? "yes"
                                : "no: " + move.code->why,
                    move.code->tool.empty() ? "PTX" : "machine code by " + move.code->tool,
                    readings.empty() ? "-" : readings, difference_text(*move.code, kShownOpcodes)});
  }
  to.table(std::move(code));
}

void add_bottleneck(const Outcome& before, const Outcome& after, Document& to) {
  to.heading(2, "Bottleneck before and after");
  if (!before.diagnosis && !after.diagnosis) return to.paragraph("This runner gives no diagnosis.");
  to.table({{"", "share of the bound"},
            {"baseline", bound_share(before).text()},
            {"best kernel", bound_share(after).text()}});
  for (const auto& [title, outcome] :
       {std::pair{"Baseline", &before}, std::pair{"Best kernel", &after}}) {
    to.heading(3, title);
    const std::vector<std::string> findings = lines_of(findings_text(*outcome, ""));
    if (findings.empty()) to.paragraph("No rule fires.");
    to.list(findings);
  }
}

}  // namespace

Document run_report(const RecordedRun& run,
                    const SearchGraph& graph,
                    const std::optional<Attribution>& attribution) {
  const std::size_t best = run.find("best");
  Document out;
  out.heading(1, run.run().name);
  add_result(run, best, out);
  const auto& baseline = run.nodes()[0].outcome;
  if (!baseline || baseline->status != Status::ok) {
    out.paragraph(baseline ? "Nothing was searched: the baseline is " +
                                 std::string(name(baseline->status)) + "."
                           : "The baseline was not measured.");
    if (baseline && !baseline->log.empty()) out.preformatted(valid_utf8(baseline->log));
    return out;
  }
  add_dismissed(run, out);
  if (run.nodes()[best].parent == kNoNode) {
    out.paragraph("Nothing faster than the baseline was found.");
    return out;
  }
  const Variant kernel = run.variant(best);
  add_sizes(run, best, kernel, out);
  add_contracts(run, kernel, out);
  add_path(run, best, out);
  add_derivation(run, graph, best, out);
  if (attribution && attribution->best == run.nodes()[best].key) {
    add_attribution(*attribution, run.nodes()[best], out);
  } else {
    out.heading(2, "What each move is worth");
    out.paragraph(attribution
                      ? "attribution.json is about another kernel, " +
                            attribution->best.short_hex() + "; warpath attribute makes it anew."
                      : "Not measured yet: warpath attribute does.");
  }
  add_bottleneck(last_outcome(run.nodes()[0]), last_outcome(run.nodes()[best]), out);
  out.heading(2, "Difference to the baseline");
  out.preformatted(valid_utf8(variant_diff(run.variant(0), kernel)));
  out.heading(2, "Launch");
  out.preformatted(valid_utf8(terms_text(kernel)));
  return out;
}

}  // namespace warpath
