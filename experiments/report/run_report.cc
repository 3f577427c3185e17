#include "experiments/report/run_report.h"

#include <algorithm>
#include <cmath>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/json/json_record.h"
#include "engine/run/record.h"
#include "experiments/evaluate/attributing.h"
#include "experiments/report/derivation_report.h"
#include "experiments/report/portfolio_report.h"
#include "experiments/report/run_headline.h"
#include "experiments/report/run_tallies.h"
#include "experiments/setup/runner_choice.h"
#include "experiments/setup/served_sizes.h"
#include "moves/contract/contract_text.h"
#include "moves/contract/source_contract.h"
#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/findings.h"
#include "priors/evidence/signatures.h"

namespace warpath {
namespace {

constexpr std::size_t kShownOpcodes = 12;
constexpr double kNoiseDeviations = 2.58;  // of a difference: 99 %

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

void add_result(const RunMaterial& material, Document& to) {
  const Headline headline = run_headline(material);
  to.heading(1, headline.name);
  to.paragraph(headline.verdict + (headline.interval.empty() ? "" : " " + headline.interval) + ".");
  if (!headline.times.empty()) to.paragraph(headline.times + ".");
  std::vector<Document::Row> rows{{"", ""}};
  for (const auto& [what, text] : headline.facts) rows.push_back({what, text});
  to.table(std::move(rows));
  to.paragraph("The same search again:");
  to.preformatted(headline.command);
}

void add_timings(const RecordedRun& run, const RecordedNode& node, Document& to) {
  to.heading(2, "Times of the best kernel");
  to.paragraph("Kernel " + node.key.hex() + ".");
  std::vector<Document::Row> rows{
      {"workload", "cache", "median ms", "the baseline beside it, median ms", "samples"}};
  for (const WorkloadTiming& timing : last_outcome(node).timings)
    rows.push_back({timing.workload, timing.cache, ms_text(median(timing.samples_ns) * 1e-6),
                    timing.baseline_samples_ns.empty()
                        ? "-"
                        : ms_text(median(timing.baseline_samples_ns) * 1e-6),
                    std::to_string(timing.samples_ns.size())});
  to.table(std::move(rows));
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

/// Whether a step of the path gained something: by the attribution where there is one, else by what
/// the search measured, beyond its noise.
bool gains(const RunMaterial& material, const Attribution* attribution, std::size_t step) {
  const RecordedNode& child = material.run.nodes()[step];
  if (attribution != nullptr) {
    const auto move = std::ranges::find(attribution->moves, child.key, &MoveAttribution::child);
    if (move != attribution->moves.end() && move->verdict != Contribution::unmeasured)
      return move->verdict == Contribution::effective || move->verdict == Contribution::invalid;
  }
  const RecordedNode& parent = material.run.nodes()[index(child.parent)];
  if (child.speedup <= 0 || parent.speedup <= 0) return true;
  const double noise = kNoiseDeviations * std::hypot(child.standard_error, parent.standard_error);
  return std::log(child.speedup / parent.speedup) > std::max(noise, std::log1p(kLeastGain));
}

void add_path(const RunMaterial& material,
              const Attribution* attribution,
              std::size_t best,
              Document& to) {
  const RecordedRun& run = material.run;
  const Document::Row header{"kernel", "speed-up in the search", "step", "move", "proposer"};
  std::vector<Document::Row> shown{header}, folded{header};
  double before = 0;
  for (const std::size_t i : run.path(best)) {
    const RecordedNode& step = run.nodes()[i];
    const std::string ratio = before > 0 ? known_ratio_text(step.speedup / before) : "-";
    (i == 0 || gains(material, attribution, i) ? shown : folded)
        .push_back({step.key.short_hex(), known_ratio_text(step.speedup), ratio,
                    valid_utf8(step.move), step.proposer.empty() ? "-" : step.proposer});
    if (step.speedup > 0) before = step.speedup;
  }
  to.heading(2, "Path");
  const std::size_t steps = shown.size() + folded.size() - 3, without = folded.size() - 1;
  to.paragraph(
      format("%zu %s from the baseline to the best kernel", steps, steps == 1 ? "step" : "steps") +
      (without == 0
           ? "."
           : format(", %zu of which gained nothing by themselves, within noise.", without)));
  to.table(std::move(shown));
  if (without == 0) return;
  to.fold(format("Steps that gained nothing by themselves: %zu", without));
  to.paragraph("Later steps may need them.");
  to.table(std::move(folded));
  to.unfold();
}

void add_attribution(const Attribution& a, const RecordedNode& node, Document& to) {
  to.heading(2, "What each move is worth");
  to.figure("<div id=\"worth\"></div>");
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
  if (a.short_path) to.paragraph(short_path_text(*a.short_path) + ".");
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

/// Which kernel runs which size, where the device has several workloads.
void add_sizes(const RecordedRun& run, std::size_t best, const Variant& kernel, Document& to) {
  const std::vector<ServedSize> sizes = served_sizes(run, best);
  if (sizes.size() < 2) return;
  to.heading(2, "Sizes");
  to.table(size_rows(sizes, kernel));
}

void add_portfolio(const std::filesystem::path& folder, Document& to) {
  const std::string text = portfolio_text(folder);
  if (text.empty()) return;
  to.heading(2, "Portfolio");
  to.preformatted(text);
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
    for (const std::string& line : contract_lines(contracts[i])) terms.push_back(valid_utf8(line));
    to.list(terms);
  }
}

/// Sections on the best kernel, which is not the baseline.
void add_best(const RunMaterial& material, std::size_t best, Document& to) {
  const RecordedRun& run = material.run;
  const RecordedNode& node = run.nodes()[best];
  const bool attributed = material.attribution && material.attribution->best == node.key;
  const Attribution* const attribution = attributed ? &*material.attribution : nullptr;
  add_path(material, attribution, best, to);
  if (attribution != nullptr) {
    add_attribution(*attribution, node, to);
  } else {
    to.heading(2, "What each move is worth");
    to.paragraph(material.attribution ? "attribution.json is about another kernel, " +
                                            material.attribution->best.short_hex() +
                                            "; warpath attribute makes it anew."
                                      : "Not measured yet: warpath attribute does.");
  }
  const Variant kernel = run.variant(best);
  add_timings(run, node, to);
  add_sizes(run, best, kernel, to);
  add_portfolio(material.folder, to);
  add_bottleneck(last_outcome(run.nodes()[0]), last_outcome(node), to);
  add_contracts(run, kernel, to);
  add_derivation(run, material.graph, best, to);
  to.heading(2, "Difference to the baseline");
  to.difference(valid_utf8(variant_diff(run.variant(0), kernel)));
  to.heading(2, "Launch");
  to.preformatted(valid_utf8(terms_text(kernel)));
}

}  // namespace

Document run_sections(const RunMaterial& material) {
  const RecordedRun& run = material.run;
  const std::size_t best = run.find("best");
  Document out;
  const auto& baseline = run.nodes()[0].outcome;
  if (!baseline || baseline->status != Status::ok) {
    out.paragraph(baseline ? "Nothing was searched: the baseline is " +
                                 std::string(name(baseline->status)) + "."
                           : "The baseline was not measured.");
    if (baseline && !baseline->log.empty()) out.preformatted(valid_utf8(baseline->log));
    add_environment(material, out);
    return out;
  }
  add_dismissed(run, out);
  if (run.nodes()[best].parent == kNoNode) {
    out.paragraph("Nothing faster than the baseline was found.");
  } else {
    add_best(material, best, out);
  }
  add_tried(run, out);
  add_refusals(run, out);
  add_cost(run, out);
  add_environment(material, out);
  return out;
}

Document run_report(const RunMaterial& material) {
  Document out;
  add_result(material, out);
  out.append(run_sections(material));
  return out;
}

}  // namespace warpath
