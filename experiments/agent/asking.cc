#include "experiments/agent/asking.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/base/error.h"
#include "engine/json/json_record.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/outcome_io.h"
#include "engine/plugin/variant_io.h"
#include "engine/run/run_identity.h"
#include "experiments/propose/move_workers.h"
#include "experiments/setup/option_groups.h"
#include "moves/propose/rule_proposer.h"
#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/findings.h"
#include "priors/llm/options.h"

namespace warpath {
namespace {

using nlohmann::json;

constexpr std::string_view kTeller = "tell";
constexpr std::size_t kMemoryLines = 30;

RecordedConfig config_of(const std::filesystem::path& folder) {
  auto config = recorded_config(folder, default_options());
  if (!config) throw bad_input(folder.string(), "", "a run folder: OUTDIR/kernels/NAME");
  return std::move(*config);
}

json outcome_json(const Outcome& outcome, double speedup) {
  return {{"status", std::string(name(outcome.status))},
          {"speedup", number_to_json(speedup)},
          {"verdict", llm::verdict_text(outcome)},
          {"log", llm::diagnostics_text(outcome)}};
}

json told_json(const RecordedNode& node, bool evaluated, double parent_speedup) {
  json out =
      node.outcome ? outcome_json(*node.outcome, node.speedup) : json{{"status", "in_flight"}};
  out["evaluated"] = evaluated;
  out["key"] = node.key.hex();
  out["parent_speedup"] = parent_speedup;
  if (!evaluated) out["why"] = "known already";
  return out;
}

json json_lines(const std::string& text) {
  json out = json::array();
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(valid_utf8(line));
  return out;
}

json facts_json(const std::map<std::string, Fact, std::less<>>& facts) {
  json out = json::object();
  for (const auto& [what, fact] : facts)
    out[what] = {{"value", number_to_json(fact.value)}, {"source", name(fact.source)}};
  return out;
}

ForeignProposal foreign(const ToldCandidate& told, const Hash128& at) {
  ForeignProposal out;
  out.at = at.hex();
  out.proposal.instance = MoveInstance::parse(told.move, "move");
  out.text = told.text;
  out.launch = told.launch;
  out.place = told.place;
  return out;
}

const RecordedNode* find(const RecordedRun& run, const Hash128& key) {
  const auto it = std::ranges::find(run.nodes(), key, &RecordedNode::key);
  return it == run.nodes().end() ? nullptr : &*it;
}

}  // namespace

Asking::Asking(std::filesystem::path folder, const Plugins& plugins, const Program& program)
    : folder_(std::move(folder)), plugins_(plugins), program_(program) {
  static_cast<void>(config_of(folder_));
}

DeviceFacts Asking::device() const {
  if (auto known = recorded_device(folder_)) return *std::move(known);
  const RecordedConfig config = config_of(folder_);
  const RunnerChoice choice = choose_runner(config.runner_text, plugins_.runners, config.options);
  const auto runner = create_runner(choice, plugins_.runners, config.options, program_.path);
  return runner->device();
}

llm::Asked Asking::asked(const RecordedRun& run,
                         std::size_t node,
                         const DeviceFacts& device) const {
  const RecordedConfig config = config_of(folder_);
  const RecordedNode& recorded = run.nodes()[node];
  if (!(recorded.speedup > 0))
    throw bad_input("NODE", recorded.key.short_hex(), "a node that was measured");
  const auto ranking = run.ranking();
  llm::Asked out{.variant = run.variant(node),
                 .key = recorded.key,
                 .outcome = recorded.outcome,
                 .speedup = recorded.speedup,
                 .best_speedup = ranking.empty() ? 1 : run.nodes()[ranking.front()].speedup,
                 .legal = {}};
  const MoveWorkers workers(plugins_.moves, move_workers_setup(config.options, program_));
  RuleProposer rules(workers.moves());
  const ProposalContext context{.at = {run.spec(), out.variant, device},
                                .node_key = out.key,
                                .outcome = nullptr,
                                .seed = config.options.run.seed};
  Rng rng(config.options.run.seed, "propose", mix64(out.key.high) ^ out.key.low);
  for (Proposal& p : rules.propose(context, rng)) {
    if (out.legal.size() >= static_cast<std::size_t>(config.options.of<LlmOptions>().offered))
      break;
    out.legal.push_back(std::move(p));
  }
  return out;
}

llm::Memory Asking::memory(const RecordedRun& run) const {
  llm::Memory out;
  for (std::size_t i = 1; i < run.nodes().size(); ++i) {
    const RecordedNode& node = run.nodes()[i];
    if (!node.outcome || node.parent == kNoNode) continue;
    const MoveInstance instance = MoveInstance::parse(node.move, "move");
    const Variant variant = run.variant(i);
    const RecordedNode& parent = run.nodes()[index(node.parent)];
    out.add({.parent_key = parent.key,
             .key = node.key,
             .instance = instance,
             .source = node.proposer,
             .variant = variant,
             .outcome = *node.outcome,
             .speedup = node.speedup,
             .parent_speedup = parent.speedup});
  }
  return out;
}

std::vector<llm::Message> Asking::prompt(const std::string& node) const {
  const RecordedRun run(folder_);
  const DeviceFacts facts = device();
  const llm::PromptBuilder builder(run.spec(), facts, move_cards(plugins_.moves));
  return builder.choose(asked(run, run.find(node), facts), memory(run), kMemoryLines,
                        config_of(folder_).options.of<LlmOptions>().moves);
}

std::size_t Asking::next(const RecordedRun& run) const {
  std::vector<std::size_t> told(run.nodes().size());
  for (const RecordedNode& node : run.nodes()) {
    if (node.proposer == kTeller && node.parent != kNoNode) ++told[index(node.parent)];
  }
  for (const std::size_t i : run.ranking()) {
    if (told[i] < kMostTold) return i;
  }
  return 0;
}

json Asking::ask(const std::optional<std::string>& node) const {
  const RecordedRun run(folder_);
  const DeviceFacts facts = device();
  const std::size_t id = node ? run.find(*node) : next(run);
  const llm::Asked at = asked(run, id, facts);
  const llm::PromptBuilder builder(run.spec(), facts, move_cards(plugins_.moves));
  const auto messages = builder.choose(at, memory(run), kMemoryLines,
                                       config_of(folder_).options.of<LlmOptions>().moves);
  json legal = json::array();
  for (const Proposal& p : at.legal)
    legal.push_back({{"move", p.instance.text()}, {"weight", p.weight}});
  return {{"node", at.key.hex()},
          {"speedup", at.speedup},
          {"best_speedup", at.best_speedup},
          {"source", valid_utf8(at.variant.source)},
          {"launch", to_json(at.variant.launch)},
          {"legal", std::move(legal)},
          {"by_hand", builder.by_hand()},
          {"prompt", {{"system", messages[0].text}, {"user", messages[1].text}}}};
}

json Asking::tell(const ToldCandidate& told,
                  const std::stop_token& stop,
                  const std::stop_token& abandon) const {
  KernelRun planned{.spec = {}, .options = {}, .runner = {}, .folder = folder_};
  Hash128 key;
  double parent_speedup = 0;
  {
    const RecordedRun run(folder_, RecordedRun::For::building);
    const std::size_t id = run.find(told.node);
    parent_speedup = run.nodes()[id].speedup;
    if (!(parent_speedup > 0)) throw bad_input("NODE", told.node, "a node that was measured");
    ForeignProposal proposal = foreign(told, run.nodes()[id].key);
    const Variant parent = run.variant(id);
    const DeviceFacts facts = device();
    const RecordedConfig config = config_of(folder_);
    const MoveWorkers workers(plugins_.moves, move_workers_setup(config.options, program_));
    key = variant_key(
        made_for(proposal, {run.spec(), parent, facts}, MoveTable(workers.moves())).variant);
    if (const RecordedNode* known = find(run, key)) return told_json(*known, false, parent_speedup);
    planned.spec = run.spec();
    planned.options = config.options;
    planned.runner = choose_runner(config.runner_text, plugins_.runners, config.options);
    planned.proposals.push_back(std::move(proposal));
  }
  planned.only_proposals = true;
  planned.teller = kTeller;
  SessionObserver silent;
  static_cast<void>(run_kernel(planned, true, plugins_, program_, silent, stop, abandon));
  const RecordedRun run(folder_);
  const RecordedNode* made = find(run, key);
  if (made == nullptr)
    return {{"evaluated", false},
            {"key", key.hex()},
            {"why", "the runner refuses it, or the node lies too deep"}};
  return told_json(*made, true, parent_speedup);
}

json Asking::status() const {
  const RecordedRun run(folder_);
  json by_status = json::object();
  for (const RecordedNode& n : run.nodes()) {
    const std::string key = n.outcome ? std::string(name(n.outcome->status)) : "in_flight";
    by_status[key] = by_status.value(key, 0) + 1;
  }
  const RecordedNode& best = run.nodes()[run.find("best")];
  return {{"name", run.run().name},
          {"runner", run.run().runner},
          {"nodes", run.nodes().size()},
          {"by_status", std::move(by_status)},
          {"best", {{"key", best.key.hex()}, {"speedup", best.speedup}, {"move", best.move}}}};
}

json Asking::inspect(const std::string& node) const {
  const RecordedRun run(folder_);
  const std::size_t id = run.find(node);
  const RecordedNode& n = run.nodes()[id];
  json path = json::array();
  for (const std::size_t i : run.path(id))
    path.push_back({{"key", run.nodes()[i].key.hex()},
                    {"move", run.nodes()[i].move},
                    {"speedup", run.nodes()[i].speedup}});
  json out = n.outcome ? outcome_json(*n.outcome, n.speedup) : json{{"status", "in_flight"}};
  out["key"] = n.key.hex();
  out["path"] = std::move(path);
  out["source"] = valid_utf8(run.variant(id).source);
  json facts = json::object();
  if (n.outcome && n.outcome->diagnosis) {
    for (const auto& [name, fact] : n.outcome->diagnosis->time_bound_ns)
      facts["bound_ns:" + name] = number_to_json(fact.value);
    for (const auto& [name, fact] : n.outcome->diagnosis->facts)
      facts[name] = number_to_json(fact.value);
  }
  out["diagnosis"] = std::move(facts);
  return out;
}

json Asking::diagnose(const std::string& node) const {
  const RecordedRun run(folder_);
  const RecordedNode& n = run.nodes()[run.find(node)];
  const Diagnosis diagnosis = n.outcome ? n.outcome->diagnosis.value_or(Diagnosis()) : Diagnosis();
  return {{"key", n.key.hex()},
          {"status", n.outcome ? std::string(name(n.outcome->status)) : "in_flight"},
          {"findings", n.outcome ? json_lines(findings_text(*n.outcome, "")) : json::array()},
          {"unavailable", n.outcome ? json_lines(unjudged_text(*n.outcome, "")) : json::array()},
          {"bounds_ns", facts_json(diagnosis.time_bound_ns)},
          {"facts", facts_json(diagnosis.facts)}};
}

}  // namespace warpath
