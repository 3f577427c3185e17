#pragma once

#include <cstdint>
#include <vector>

#include "runners/replay/recorded_graph.h"

namespace warpath {

/// A recorded graph as the search sees it: the actions of a node are its recorded moves, in their order.
class GraphWalk final : public Recording::Walk {
 public:
  /// `graph` outlives this.
  GraphWalk(const RecordedGraph& graph, std::uint32_t first, Recording::Steps steps) : graph_(graph), steps_(std::move(steps)), rows_{first} {}

  [[nodiscard]] Hash128 root_key() const override { return graph_.node(rows_.front()).key; }
  [[nodiscard]] std::uint32_t row(NodeId node) const override { return rows_[index(node)]; }

  void open(NodeId node, std::vector<float>& priors) override;
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override;
  void adopt(NodeId child, NodeId parent, std::uint32_t action) override;

 private:
  const RecordedGraph& graph_;
  Recording::Steps steps_;
  std::vector<std::uint32_t> rows_;  // by NodeId
};

}  // namespace warpath
