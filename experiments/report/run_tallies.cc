#include "experiments/report/run_tallies.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/json/json_record.h"
#include "experiments/report/run_headline.h"

namespace warpath {
namespace {

constexpr std::size_t kNamedMoves = 3;

std::string count_text(std::uint64_t n) {
  return std::to_string(n);
}

/// What became of the variants that a move made.
struct MoveTally {
  std::uint64_t variants = 0, measured = 0, refused = 0;
  double best = 0;
  std::vector<double> steps;  // speed-ups over the parent
};

std::string moves_text(const std::set<std::string>& moves) {
  std::string out;
  std::size_t n = 0;
  for (const std::string& move : moves) {
    if (n++ == kNamedMoves) return out + format(" and %zu more", moves.size() - kNamedMoves);
    out += (out.empty() ? "" : ", ") + move;
  }
  return out;
}

}  // namespace

void add_tried(const RecordedRun& run, Document& to) {
  std::map<std::string, MoveTally> by_move;
  for (const RecordedNode& node : run.nodes()) {
    if (node.build == 0) continue;
    MoveTally& tally = by_move[node.instance.move];
    ++tally.variants;
    if (is_refusal(node.outcome->status)) ++tally.refused;
    if (node.speedup <= 0) continue;
    ++tally.measured;
    tally.best = std::max(tally.best, node.speedup);
    const double before = run.nodes()[index(node.parent)].speedup;
    if (before > 0) tally.steps.push_back(node.speedup / before);
  }
  to.heading(2, "What was tried");
  if (by_move.empty()) return to.paragraph("Nothing: no variant was evaluated.");
  std::vector<std::pair<std::string, MoveTally>> sorted(by_move.begin(), by_move.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.best > b.second.best; });
  to.paragraph("Every move that the search made, with the best variant that it made last.");
  std::vector<Document::Row> rows{
      {"move", "variants", "measured", "refused", "best", "median step", "best step"}};
  for (const auto& [move, tally] : sorted) {
    rows.push_back(
        {move.empty() ? "other" : valid_utf8(move), count_text(tally.variants),
         count_text(tally.measured), count_text(tally.refused), known_ratio_text(tally.best),
         tally.steps.empty() ? "-" : ratio_text(median(tally.steps)),
         tally.steps.empty() ? "-" : ratio_text(*std::ranges::max_element(tally.steps))});
  }
  to.table(std::move(rows), {.kind = "sorted"});
}

void add_refusals(const RecordedRun& run, Document& to) {
  struct Refusals {
    std::uint64_t count = 0;
    std::set<std::string> moves;
    std::string example;
  };
  std::map<std::string, Refusals> by_gate;
  const auto add = [&](const std::string& gate, const Outcome& outcome, const std::string& move) {
    Refusals& to_gate = by_gate[gate];
    ++to_gate.count;
    if (!move.empty()) to_gate.moves.insert(move);
    if (to_gate.example.empty())
      to_gate.example = outcome.verdict.gates.empty() || outcome.verdict.passed()
                            ? outcome.log.substr(0, outcome.log.find('\n'))
                            : outcome.verdict.summary();
  };
  for (const RecordedNode& node : run.nodes()) {
    if (node.build > 0 && is_refusal(node.outcome->status))
      add(refused_by(*node.outcome), *node.outcome, node.instance.move);
    if (node.final_outcome && is_refusal(node.final_outcome->status))
      add(refused_by(*node.final_outcome) + " (at the end)", *node.final_outcome,
          node.instance.move);
  }
  to.heading(2, "What was refused");
  if (by_gate.empty()) return to.paragraph("Nothing was refused.");
  std::vector<Document::Row> rows{{"gate", "variants", "last moves", "the first one"}};
  std::vector<std::pair<std::string, Refusals>> sorted(by_gate.begin(), by_gate.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
  for (const auto& [gate, refusals] : sorted)
    rows.push_back({gate, count_text(refusals.count), valid_utf8(moves_text(refusals.moves)),
                    valid_utf8(refusals.example)});
  to.table(std::move(rows), {.kind = "sorted"});
}

void add_cost(const RecordedRun& run, Document& to) {
  const RecordedCost& cost = run.cost();
  to.heading(2, "Where the seconds went");
  to.paragraph("Wall time " + duration_text(cost.seconds) + ", of it " +
               duration_text(cost.search_seconds) +
               " until the last outcome of the search. Evaluations go on side by side, so that "
               "their seconds may add up to more.");
  std::vector<Document::Row> rows{
      {"", "evaluations", "compile s", "run and check s", "run s an evaluation"}};
  double compile = 0, run_seconds = 0;
  std::uint64_t evaluations = 0;
  for (const auto& [what, part] :
       {std::pair{"baseline", &cost.baseline}, std::pair{"search", &cost.search},
        std::pair{"heats", &cost.heats}, std::pair{"finals", &cost.finals}}) {
    if (part->evaluations == 0) continue;
    evaluations += part->evaluations;
    compile += part->compile_seconds;
    run_seconds += part->run_seconds;
    rows.push_back({what, count_text(part->evaluations), format("%.2f", part->compile_seconds),
                    format("%.2f", part->run_seconds),
                    format("%.3f", part->run_seconds / static_cast<double>(part->evaluations))});
  }
  rows.push_back(
      {"all", count_text(evaluations), format("%.2f", compile), format("%.2f", run_seconds), ""});
  to.table(std::move(rows));
}

void add_environment(const RunMaterial& material, Document& to) {
  to.heading(2, "Environment");
  std::vector<Document::Row> rows{{"", ""}};
  const DeviceFacts& device = material.run.device();
  if (!device.name.empty()) rows.push_back({"device", valid_utf8(device.name)});
  if (!device.arch.empty()) rows.push_back({"architecture", device.arch});
  if (device.multiprocessors > 0)
    rows.push_back(
        {device.is_gpu ? "multiprocessors" : "cores used", std::to_string(device.multiprocessors)});
  if (material.environment.is_object()) {
    for (const auto& [key, value] : material.environment.items())
      rows.push_back({valid_utf8(key), value.is_string() ? valid_utf8(value.get<std::string>())
                                                         : valid_utf8(value.dump())});
  }
  if (material.summary)
    rows.push_back({"fingerprint of the graph", material.summary->fingerprint.hex()});
  std::string options;
  for (const std::string& word : option_words(material.options))
    options += (options.empty() ? "" : " ") + word;
  rows.push_back({"options that differ", options.empty() ? "none" : valid_utf8(options)});
  to.table(std::move(rows));
}

}  // namespace warpath
