#include "experiments/setup/recorded_run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/log/run_folder.h"
#include "engine/plugin/device_io.h"
#include "engine/plugin/options_io.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/system_headers.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/runner_choice.h"

namespace warpath {
namespace {

constexpr std::size_t kShownCandidates = 8;
constexpr std::size_t kMostNodes = std::size_t{1} << 31U;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

/// Of a run that did not record its device.
DeviceFacts unrecorded_device(const std::string& runner) {
  DeviceFacts out;
  out.is_gpu = times_a_gpu(runner);
  return out;
}

/// The log of a run folder.
std::filesystem::path log_of(const std::filesystem::path& folder) {
  if (!RunFolder::has_run(folder))
    throw bad_input(folder.string(), "", "a run folder: OUTDIR/kernels/NAME");
  return folder / "events.jsonl";
}

}  // namespace

RecordedRun::RecordedRun(const std::filesystem::path& folder, For purpose) : log_(log_of(folder)) {
  // Only the options that finals depend on: a run may contain others that this program lacks.
  const std::string config_file = (folder / "config.json").string();
  const nlohmann::json config = read_json_file(config_file);
  const JsonCursor options = JsonCursor(config, config_file).at("options");
  const std::string group(RunOptions::kGroup);
  options_ =
      overlay_options(default_options(), {{group, options.at(group).value()}}, options.place()).run;
  const std::string spec_file = (folder / "input_spec.json").string();
  spec_ = spec_from_json(read_json_file(spec_file), spec_file);
  if (purpose == For::building) read_system_headers(spec_);
  known_device_ = recorded_device(folder);
  static_cast<void>(read_on());
  if (nodes_.empty()) throw bad_input(folder.string(), "", "a run whose baseline was measured");
}

bool RecordedRun::read_on() {
  const std::uint64_t before = log_.position().lines;
  log_.retry();
  while (const auto object = log_.next()) {
    const Event event = decode(*object, log_.place());
    if (const auto* const run = std::get_if<RunEvent>(&event))
      device_ = known_device_ ? *known_device_ : unrecorded_device(run->runner);
    add(event, log_.place());
  }
  return log_.position().lines != before;
}

RecordedNode& RecordedRun::at(NodeId node, const std::string& place) {
  const std::size_t i = index(node);
  if (i >= kMostNodes || i > nodes_.size() + dispatched_.size() + 1) {
    throw bad_input(place, std::to_string(i), "a node that follows from the lines before");
  }
  if (i >= nodes_.size()) nodes_.resize(i + 1);
  nodes_[i].line = log_.position().lines;
  return nodes_[i];
}

void RecordedRun::add(const Event& event, const std::string& place) {
  std::visit(
      Overloaded{[&](const RunEvent& e) { run_ = e; },
                 [&](const BaselineEvent& e) {
                   RecordedNode& root = at(NodeId{0}, place);
                   root.key = e.key;
                   root.outcome = e.outcome;
                   root.seconds = e.seconds;
                   spend(cost_.baseline, e.outcome, e.seconds);
                   begin(e.outcome);
                 },
                 [&](const DispatchEvent& e) {
                   if (index(e.parent) >= nodes_.size() || index(e.parent) >= index(e.node)) {
                     throw bad_input(place, std::to_string(index(e.parent)),
                                     "a parent that stands before its child");
                   }
                   RecordedNode& node = at(e.node, place);
                   node.key = e.key;
                   node.parent = e.parent;
                   node.move = e.instance.text();
                   node.instance = e.instance;
                   node.proposer = e.source;
                   node.change = e.change;
                   dispatched_.emplace_back(e.sequence, e.node);
                 },
                 [&](const OutcomeEvent& e) { take(e, place); },
                 [&](const SessionEvent& e) {
                   if (sessions_++ == 0) started_ = e.at;
                   if (finals_) finals_->begin_session();
                 },
                 [&](const HeatEvent& e) {
                   if (!finals_) throw bad_input(place, "a heat", "a search before it");
                   static_cast<void>(finals_->apply(e, place));
                   spend(cost_.heats, e.outcome, e.seconds);
                 },
                 [&](const FinalEvent& e) {
                   if (!finals_ || index(e.node) >= nodes_.size())
                     throw bad_input(place, "a final", "a search before it");
                   spend(cost_.finals, e.outcome, e.seconds);
                   RecordedNode& node = at(e.node, place);
                   node.final_speedup = finals_->apply(e, place).speedup;
                   node.timed_again = true;
                   node.final_outcome = e.outcome;
                 },
                 [](const auto&) {}},
      event);
}

void RecordedRun::spend(EvaluationCost& on, const Outcome& outcome, double seconds) {
  ++on.evaluations;
  on.compile_seconds += outcome.compile_seconds;
  on.run_seconds += outcome.run_seconds;
  cost_.seconds = std::max(cost_.seconds, seconds);
}

void RecordedRun::take(const OutcomeEvent& event, const std::string& place) {
  const auto it = std::find_if(dispatched_.begin(), dispatched_.end(),
                               [&](const auto& d) { return d.first == event.sequence; });
  if (it == dispatched_.end())
    throw bad_input(place, std::to_string(event.sequence), "a dispatched sequence");
  const NodeId id = it->second;
  dispatched_.erase(it);
  spend(cost_.search, event.outcome, event.seconds);
  cost_.search_seconds = event.seconds;
  RecordedNode& node = at(id, place);
  node.outcome = event.outcome;
  node.build = cost_.search.evaluations;
  node.seconds = event.seconds;
  const bool ok = objective_ && event.outcome.status == Status::ok;
  const double reward = ok ? objective_->reward(event.outcome) : 0;
  if (ok) {
    node.speedup = std::exp(reward);
    node.standard_error = objective_->standard_error(event.outcome);
  }
  if (!finals_) return;
  Finals::Nominee nominee{.reward = reward,
                          .standard_error = node.standard_error,
                          .moves = {},
                          .binary_key = event.outcome.binary_key};
  for (NodeId from = id; reward > 0 && from != NodeId{0}; from = nodes_[index(from)].parent)
    nominee.moves.insert(nodes_[index(from)].instance.move);
  finals_->enter(id, nominee, event.seconds);
}

void RecordedRun::begin(const Outcome& baseline) {
  ObjectiveFunction objective(spec_, device_, options_.min_speedup);
  if (!objective.set_baseline(baseline).empty()) return;
  nodes_[0].speedup = 1;
  finals_.emplace(objective, options_);
  objective_ = std::move(objective);
}

std::vector<std::size_t> RecordedRun::path(std::size_t node) const {
  std::vector<std::size_t> nodes{node};
  while (nodes_[nodes.back()].parent != kNoNode)
    nodes.push_back(index(nodes_[nodes.back()].parent));
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

Variant RecordedRun::variant(std::size_t node) const {
  Variant out = baseline_variant(spec_);
  for (const std::size_t i : path(node)) out = patched(std::move(out), nodes_[i].change);
  return out;
}

std::vector<std::size_t> RecordedRun::ranking() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].speedup > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return nodes_[a].speedup > nodes_[b].speedup;
  });
  return order;
}

std::size_t RecordedRun::find(std::string_view name) const {
  if (name == "baseline") return 0;
  if (name == "best") {
    if (const auto winner = finals_ ? finals_->winner() : std::nullopt) return index(winner->node);
    const auto order = ranking();
    return order.empty() ? 0 : order.front();
  }
  std::vector<std::size_t> matches;
  std::string candidates;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::string key = nodes_[i].key.hex();
    const bool known = std::any_of(matches.begin(), matches.end(),
                                   [&](std::size_t m) { return nodes_[m].key == nodes_[i].key; });
    if (!key.starts_with(name) || known) continue;
    matches.push_back(i);
    if (matches.size() <= kShownCandidates)
      candidates += (candidates.empty() ? "" : ", ") + key.substr(0, name.size() + 6);
  }
  if (matches.size() == 1) return matches.front();
  if (matches.empty())
    throw bad_input(
        "NODE", name,
        "the start of a node's key, best or baseline; `warpath inspect RUN` lists nodes");
  if (matches.size() > kShownCandidates) candidates += ", ...";
  throw bad_input("NODE", name, "more of the key: " + candidates);
}

}  // namespace warpath
