#include "experiments/evaluate/trials.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/spec/variant.h"
#include "priors/tactics/draft_features.h"
#include "priors/tactics/proposal_features.h"

namespace warpath {

namespace {

const Diagnosis* diagnosis_of(const Outcome& outcome) {
  return outcome.diagnosis ? &*outcome.diagnosis : nullptr;
}

}  // namespace

RecordedTrials::RecordedTrials(const std::filesystem::path& place) {
  if (std::filesystem::is_directory(place)) {
    folder_.emplace(place);
    kernel_ = folder_->spec().name;
    run_ = folder_->run().run_id;
    device_ = folder_->device().name;
    return;
  }
  graph_ = std::dynamic_pointer_cast<const RecordedGraph>(load_recording(place));
  if (!graph_)
    throw bad_input(place.string(), "a tuning space",
                    "a run folder or a graph of `warpath record`");
  kernel_ = graph_->spec().name;
  run_ = "graph " + graph_->name();
  device_ = graph_->facts().name;
}

void RecordedTrials::visit(const std::function<void(const Tried&)>& each) const {
  folder_ ? visit_run(each) : visit_graph(each);
}

void RecordedTrials::visit_run(const std::function<void(const Tried&)>& each) const {
  const std::vector<RecordedNode>& nodes = folder_->nodes();
  std::vector<MoveInstance> instances(nodes.size());
  std::map<std::size_t, std::vector<std::size_t>> children;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    instances[i] = MoveInstance::parse(nodes[i].move, "events.jsonl");
    if (nodes[i].outcome) children[index(nodes[i].parent)].push_back(i);
  }
  for (const auto& [parent, list] : children) {
    const RecordedNode& node = nodes[parent];
    if (!node.outcome || !(node.speedup > 0)) continue;
    const Variant variant = folder_->variant(parent);
    ProposalContext context{.at = {folder_->spec(), variant, folder_->device()},
                            .node_key = node.key,
                            .outcome = &*node.outcome,
                            .seed = folder_->run().seed,
                            .baseline = &*nodes.front().outcome};
    for (const std::size_t step : folder_->path(parent)) {
      if (step != 0) context.path.push_back(&instances[step]);
    }
    for (const std::size_t child : list) {
      const double speedup = nodes[child].speedup;
      const Status status = nodes[child].outcome->status;
      if (status == Status::ok && !(speedup > 0)) continue;  // its objective is unknown
      each({.context = context,
            .node = parent,
            .instance = instances[child],
            .status = status,
            .log_gain = status == Status::ok ? std::log(speedup / node.speedup) : 0,
            .diagnosis = diagnosis_of(*nodes[child].outcome)});
    }
  }
}

void RecordedTrials::visit_graph(const std::function<void(const Tried&)>& each) const {
  const RecordedGraph& graph = *graph_;
  const auto& rows = graph.rows();
  struct Reached {
    std::uint32_t from = Recording::kNone;
    const MoveInstance* by = nullptr;
  };
  std::vector<Reached> reached(rows.size());
  std::vector<bool> seen(rows.size());
  std::vector<std::uint32_t> order{0};
  seen[0] = true;
  for (std::size_t next = 0; next < order.size(); ++next) {
    const std::uint32_t row = order[next];
    for (const RecordedGraph::Action& action : graph.node(row).actions) {
      if (seen[action.target]) continue;
      seen[action.target] = true;
      reached[action.target] = {row, &action.instance};
      order.push_back(action.target);
    }
  }
  std::ranges::sort(order);
  for (const std::uint32_t row : order) {
    const RecordedGraph::Node& node = graph.node(row);
    if (rows[row].status != Status::ok || node.actions.empty()) continue;
    ProposalContext context{.at = {graph.spec(), node.variant, graph.facts()},
                            .node_key = node.key,
                            .outcome = &node.outcome,
                            .seed = 0,
                            .baseline = &graph.node(0).outcome};
    for (std::uint32_t at = row; reached[at].by != nullptr; at = reached[at].from)
      context.path.push_back(reached[at].by);
    std::ranges::reverse(context.path);
    for (const RecordedGraph::Action& action : node.actions) {
      const Recording::Row& child = rows[action.target];
      each(
          {.context = context,
           .node = row,
           .instance = action.instance,
           .status = child.status,
           .log_gain = child.status == Status::ok ? std::log(rows[row].time_ns / child.time_ns) : 0,
           .diagnosis = diagnosis_of(graph.node(action.target).outcome)});
    }
  }
}

std::vector<Experience> RecordedTrials::experiences() const {
  std::vector<Experience> out;
  std::uint64_t node = UINT64_MAX;
  std::string context;
  visit([&](const Tried& t) {
    if (t.node != node) context = tactic_context(t.context);
    node = t.node;
    out.push_back({.run = run_,
                   .kernel = kernel_,
                   .device = device_,
                   .context = context,
                   .from = std::string(came_from(t.context)),
                   .instance = t.instance,
                   .status = t.status,
                   .log_gain = t.log_gain});
  });
  return out;
}

std::vector<GainExample> RecordedTrials::examples() const {
  std::vector<GainExample> out;
  std::optional<NodeFeatures> features;
  std::uint64_t node = UINT64_MAX;
  visit([&](const Tried& t) {
    if (t.node != node) features.emplace(t.context);
    node = t.node;
    const bool ok = t.status == Status::ok;
    out.push_back({.kernel = kernel_,
                   .node = t.node,
                   .move = t.instance.move,
                   .features = features->of(t.instance),
                   .gain = taught_gain(ok, t.log_gain),
                   .improved = ok && t.log_gain >= kImproved});
  });
  return out;
}

std::vector<GainExample> RecordedTrials::draft_examples() const {
  std::vector<GainExample> out;
  visit([&](const Tried& t) {
    if (t.status != Status::ok || t.diagnosis == nullptr || !t.context.outcome->diagnosis) return;
    out.push_back({.kernel = kernel_,
                   .node = t.node,
                   .move = "",
                   .features = draft_features(t.context.at.device, *t.context.outcome->diagnosis,
                                              *t.diagnosis),
                   .gain = taught_gain(true, t.log_gain),
                   .improved = t.log_gain >= kImproved});
  });
  return out;
}

}  // namespace warpath
