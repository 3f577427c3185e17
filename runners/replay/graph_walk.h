#pragma once

#include <cstdint>
#include <vector>

#include "runners/replay/recorded_graph.h"

namespace warpath {

/// A recorded graph as the search sees it: the actions of a node are its recorded moves, in their
/// order.
class GraphWalk final : public Recording::Walk {
 public:
  /// `graph` outlives this.
  GraphWalk(const RecordedGraph& graph, std::uint32_t first, Recording::Steps steps)
      : graph_(graph), steps_(std::move(steps)), nodes_{{.row = first}} {}

  [[nodiscard]] Hash128 root_key() const override { return graph_.node(nodes_.front().row).key; }
  [[nodiscard]] std::uint32_t row(NodeId node) const override { return nodes_[index(node)].row; }
  void dispatched(const Dispatch& dispatch) override;
  void landed(NodeId node, bool ok, double reward) override;

  void open(NodeId node, std::vector<float>& priors) override;
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override;
  void create(NodeId child, NodeId parent, const Step& step, const Hash128& key) override;

 private:
  struct Visited {
    std::uint32_t row = 0;
    NodeId parent = kNoNode;
    std::uint32_t action = 0;  // of the parent
    double reward = 0;         // once landed
    SourceShares shares = {};  // while under way
  };
  [[nodiscard]] bool learns() const { return steps_.prior != nullptr && !steps_.prior->pure(); }
  [[nodiscard]] const RecordedGraph::Action& made(const Visited& node) const {
    return graph_.node(row(node.parent)).actions[node.action];
  }
  [[nodiscard]] ProposalContext context(NodeId node) const;
  [[nodiscard]] std::vector<Proposal> proposals(NodeId node) const;

  const RecordedGraph& graph_;
  Recording::Steps steps_;
  std::vector<Visited> nodes_;  // by NodeId
};

}  // namespace warpath
