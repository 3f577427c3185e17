#include "experiments/report/run_facts.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/base/format.h"
#include "engine/json/json_record.h"
#include "engine/plugin/outcome.h"
#include "engine/run/record.h"
#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/findings.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::size_t kMostFindings = 8;

/// Six significant digits: a page holds many numbers. Null where it is not finite.
json rounded(double x) {
  return std::isfinite(x) ? json(std::strtod(number_text(x).c_str(), nullptr)) : json();
}

json interval(const Ablation& ablation) {
  if (!ablation.measured()) return {{"why", valid_utf8(ablation.why)}};
  return {{"speedup", rounded(ablation.speedup)},
          {"low", rounded(ablation.interval.low)},
          {"high", rounded(ablation.interval.high)}};
}

}  // namespace

RunFacts::RunFacts(const RecordedRun& run, std::uint64_t after)
    : run_(run), best_(run.find("best")), path_(run.path(best_)) {
  json nodes = json::array();
  for (std::size_t i = 0; i < run.nodes().size(); ++i) {
    if (run.nodes()[i].line > after) nodes.push_back({i, node(i)});
  }
  out_ = {{"nodes", std::move(nodes)},
          {"best", best_},
          {"path", path_},
          {"links", json::array()},
          {"version", run.line()}};
}

std::size_t RunFacts::text(const std::string& text) {
  const auto [at, added] = numbers_.try_emplace(text, texts_.size());
  if (added) texts_.push_back(valid_utf8(text));
  return at->second;
}

json RunFacts::node(std::size_t id) {
  const RecordedNode& node = run_.nodes()[id];
  json out{{"key", node.key.hex()},
           {"parent", node.parent == kNoNode ? -1 : static_cast<int>(index(node.parent))},
           {"move", text(node.move)},
           {"status", text(node.outcome ? std::string(name(node.outcome->status)) : "in flight")},
           {"build", node.build},
           {"seconds", rounded(node.seconds)},
           {"speedup", rounded(node.speedup)}};
  if (node.timed_again) out["final"] = rounded(node.final_speedup);
  if (id < kMostDetailed || std::ranges::find(path_, id) != path_.end()) add_details(id, out);
  return out;
}

void RunFacts::add_details(std::size_t id, json& to) {
  const RecordedNode& node = run_.nodes()[id];
  if (!node.proposer.empty()) to["proposer"] = text(node.proposer);
  const Variant variant = run_.variant(id);
  if (node.parent == kNoNode) {
    to["source"] = valid_utf8(variant.source);
    to["terms"] = valid_utf8(terms_text(variant));
  } else {
    to["diff"] = text(variant_diff(run_.variant(index(node.parent)), variant));
  }
  if (!node.outcome) return;
  const bool again = node.final_outcome && node.final_outcome->status == Status::ok;
  const Outcome& outcome = again ? *node.final_outcome : *node.outcome;
  json gates = json::array();
  for (const GateResult& gate :
       (node.final_outcome ? *node.final_outcome : *node.outcome).verdict.gates)
    gates.push_back({text(gate.gate), static_cast<int>(gate.answer), text(gate.detail)});
  to["gates"] = std::move(gates);
  if (!outcome.log.empty()) to["log"] = text(outcome.log);
  const double ns = measured_time_ns(outcome);
  if (ns > 0) to["ms"] = rounded(ns * 1e-6);
  to["spent"] = {rounded(node.outcome->compile_seconds), rounded(node.outcome->run_seconds)};
  if (!outcome.diagnosis) return;
  json bounds = json::object(), facts = json::array();
  for (const auto& [resource, bound] : outcome.diagnosis->time_bound_ns)
    bounds[resource] = rounded(bound.value);
  for (const auto& [fact, value] : outcome.diagnosis->facts)
    facts.push_back({text(fact), rounded(value.value), static_cast<int>(value.source)});
  to["bounds"] = std::move(bounds);
  to["facts"] = std::move(facts);
  if (const std::string found = findings_text(outcome, "", kMostFindings); !found.empty())
    to["findings"] = text(found);
}

void RunFacts::add_links(const SearchGraph& of) {
  for (std::uint32_t i = 0; i < of.graph.edge_count(); ++i) {
    const auto [source, target] = std::pair{of.graph[EdgeId{i}].source, of.graph[EdgeId{i}].target};
    if (run_.nodes()[index(target)].parent != source)
      out_["links"].push_back({index(source), index(target), text(of.moves[i])});
  }
}

void RunFacts::add_attribution(const Attribution& attribution) {
  json moves = json::array();
  for (const MoveAttribution& move : attribution.moves) {
    json& to = moves.emplace_back(json{{"move", valid_utf8(move.move)},
                                       {"child", move.child.hex()},
                                       {"verdict", name(move.verdict)},
                                       {"without", interval(move.without)}});
    if (!move.code) continue;
    json opcodes = json::array();
    for (const auto& [opcode, counts] : move.code->difference)
      opcodes.push_back({opcode, counts.first, counts.second});
    to["code"] = {{"arch", move.code->arch},
                  {"tool", move.code->tool.empty() ? "PTX" : move.code->tool},
                  {"opcodes", std::move(opcodes)}};
  }
  out_["attribution"] = {{"moves", std::move(moves)},
                         {"whole", interval(attribution.whole)},
                         {"least_gain", rounded(attribution.least_gain)}};
}

json RunFacts::take() && {
  out_["texts"] = std::move(texts_);
  return std::move(out_);
}

}  // namespace warpath
