#include "experiments/setup/search_graph.h"

#include <map>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/log/event_log.h"
#include "engine/log/events.h"
#include "engine/run/snapshot.h"

namespace warpath {
namespace {

/// Rebuilds a graph from the log, starting at the baseline or a snapshot.
class Growth {
 public:
  Growth(SearchGraph& to, const RecordedRun& run) : to_(to), run_(run) {
    add_node(0);
    to_.graph.visit_root();
  }

  /// The graph is that of `snapshot` from here on. False, and nothing changed, if its nodes are not
  /// the first ones of the run.
  bool adopt(Snapshot snapshot) {
    Graph& graph = snapshot.graph;
    if (graph.node_count() > run_.nodes().size()) return false;
    for (std::uint32_t i = 1; i < graph.node_count(); ++i) {
      const EdgeId made_by = graph[NodeId{i}].first_in;
      if (made_by == kNoEdge || graph[made_by].source != run_.nodes()[i].parent) return false;
    }
    to_.graph = std::move(graph);
    to_.moves.clear();
    for (std::uint32_t i = 0; i < to_.graph.edge_count(); ++i) {
      const NodeId target = to_.graph.target(EdgeId{i});
      const bool made = to_.graph.first_in(target) == EdgeId{i};
      to_.moves.push_back(made ? run_.nodes()[index(target)].move : "");
    }
    snapshot.links.for_each([&](EdgeId edge, const std::string& move) {
      if (index(edge) < to_.moves.size()) to_.moves[index(edge)] = move;
    });
    paths_.clear();
    for (const auto& [dispatch, path] : snapshot.state.pending) paths_[dispatch.sequence] = path;
    return true;
  }

  void add(const DispatchEvent& event, const std::string& place) {
    Graph& graph = to_.graph;
    if (index(event.node) >= run_.nodes().size()) return;  // later than the run was read
    if (index(event.node) != graph.node_count())
      throw bad_input(place, "node " + std::to_string(index(event.node)), "the next node");
    add_node(graph[event.parent].depth + 1);
    edge(event.parent, event.node, event.instance.text());
    std::vector<EdgeId>& path = paths_[event.sequence];
    for (std::size_t i = 1; i < event.path.size(); ++i) {
      if (index(event.path[i]) >= graph.node_count())
        throw bad_input(place, "a path over node " + std::to_string(index(event.path[i])),
                        "nodes that follow from the lines before");
      path.push_back(edge(event.path[i - 1], event.path[i], ""));
    }
  }

  void add(const OutcomeEvent& event) {
    const auto done = paths_.extract(event.sequence);
    if (done.empty()) return;
    to_.graph.visit_root();
    for (const EdgeId e : done.mapped()) to_.graph.visit(e);
  }

 private:
  /// Gives it a separate key: with search.sharing=tree, several nodes have the key of one variant.
  NodeId add_node(int depth) {
    bool created = false;
    return to_.graph.find_or_insert({.high = 0, .low = to_.graph.node_count()},
                                    static_cast<std::uint16_t>(depth), created);
  }
  EdgeId edge(NodeId source, NodeId target, const std::string& move) {
    const EdgeId known = to_.graph.find_edge(source, target);
    if (known != kNoEdge) return known;
    to_.moves.push_back(move);
    return to_.graph.add_edge(source, target, 0, 0);
  }

  SearchGraph& to_;
  const RecordedRun& run_;
  std::map<std::uint64_t, std::vector<EdgeId>> paths_;  // in flight, by sequence
};

}  // namespace

SearchGraph recorded_search_graph(const std::filesystem::path& folder, const RecordedRun& run) {
  const std::filesystem::path file = folder / "search_state.json";
  std::optional<Snapshot> snapshot;
  SearchGraph out;
  out.gap = "search_state.json is missing";
  try {
    snapshot = load_snapshot(file);
    if (snapshot) out.gap = "search_state.json is not a state of this log";
  } catch (const Error& error) {
    out.gap = error.what();
  }
  out.gap += ": only the moves on which variants were found and evaluations went are known";

  Growth growth(out, run);
  bool adopted = false;
  EventReader log(folder / "events.jsonl");
  for (;;) {
    if (snapshot && snapshot->log == log.position()) {
      adopted = growth.adopt(*std::exchange(snapshot, std::nullopt));
      if (adopted) out.gap.clear();
    }
    const std::optional<std::string> object = log.next();
    if (!object) return out;
    const Event event = decode(*object, log.place());
    if (const auto* const dispatch = std::get_if<DispatchEvent>(&event))
      growth.add(*dispatch, log.place());
    else if (const auto* const outcome = std::get_if<OutcomeEvent>(&event))
      growth.add(*outcome);
    else
      continue;
    if (adopted)
      out.gap =
          "search_state.json is older than the log: later moves between variants that were known "
          "may be missing";
  }
}

}  // namespace warpath
