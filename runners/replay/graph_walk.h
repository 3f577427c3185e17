#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runners/replay/recorded_graph.h"

namespace warpath {

/// A recorded graph as a search space: the actions of a node are its recorded moves, in recorded
/// order.
class GraphWalk final : public Recording::Walk {
 public:
  /// `graph` must outlive this.
  GraphWalk(const RecordedGraph& graph, std::uint32_t first, Recording::Steps steps)
      : graph_(graph), steps_(std::move(steps)), nodes_{{.row = first}} {}

  [[nodiscard]] std::uint32_t row(NodeId node) const override { return nodes_[index(node)].row; }

  [[nodiscard]] const Recording::Row& found(NodeId node) const override {
    return graph_.rows()[row(node)];
  }

  [[nodiscard]] std::string code(NodeId node) const override {
    return graph_.node(row(node)).outcome.binary_key;
  }

  void open(NodeId node, std::vector<float>& priors) override;
  [[nodiscard]] std::vector<NodeId> take_opened() override { return std::exchange(opened_, {}); }
  [[nodiscard]] bool has_opened() const override { return !opened_.empty(); }
  [[nodiscard]] std::vector<Proposal> late_proposals(NodeId node) const override;
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override;
  [[nodiscard]] std::uint64_t label(NodeId node, std::uint32_t action) const override {
    return graph_.node(row(node)).actions[action].instance.key().low;
  }
  [[nodiscard]] std::uint64_t family(NodeId node, std::uint32_t action) const override {
    return hash128(graph_.node(row(node)).actions[action].instance.move).low;
  }
  [[nodiscard]] std::uint64_t site(NodeId node, std::uint32_t action) const override {
    return change_of(graph_.node(row(node)).actions[action].instance).site;
  }
  [[nodiscard]] Change grafted(NodeId node) const override { return change_of(instance(node)); }
  void create(NodeId child, NodeId parent, const Step& step, const Hash128& key) override;

  [[nodiscard]] std::uint32_t size() const override {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  [[nodiscard]] Hash128 key(NodeId node) const override { return graph_.node(row(node)).key; }
  [[nodiscard]] Variant variant(NodeId node) const override {
    return graph_.node(row(node)).variant;
  }
  [[nodiscard]] NodeId parent(NodeId node) const override { return nodes_[index(node)].parent; }
  [[nodiscard]] MoveInstance instance(NodeId node) const override;
  [[nodiscard]] std::string_view move(NodeId node) const override;
  [[nodiscard]] std::string_view source(NodeId node) const override {
    return nodes_[index(node)].source;
  }
  [[nodiscard]] bool structural(NodeId node) const override;
  /// The parameter values of the recorded instances of the move at that node.
  [[nodiscard]] std::vector<Tunable> domain(NodeId parent,
                                            const MoveInstance& instance) const override;
  /// Accepts recorded instances only.
  [[nodiscard]] std::optional<Dispatch> graft(Search& search,
                                              NodeId parent,
                                              const Proposal& proposal,
                                              const std::function<float()>& prior) override;
  [[nodiscard]] float largest_prior(NodeId node) override;
  [[nodiscard]] SourceShares shares(NodeId node, std::uint32_t action) override;
  void learn(NodeId node, const SourceShares& shares, bool ok, double log_gain) override;
  [[nodiscard]] std::shared_ptr<const Outcome> outcome(NodeId node) const override {
    return {std::shared_ptr<const Outcome>(), &graph_.node(row(node)).outcome};  // the graph's own
  }

 private:
  struct Visited {
    std::uint32_t row = 0;
    NodeId parent = kNoNode;
    std::uint32_t action = 0;   // index in the parent's row
    std::string_view source{};  // proposer
  };
  [[nodiscard]] bool learns() const { return steps_.prior != nullptr && !steps_.prior->pure(); }
  [[nodiscard]] const RecordedGraph::Action& made(const Visited& node) const {
    return graph_.node(row(node.parent)).actions[node.action];
  }
  [[nodiscard]] ProposalContext context(NodeId node) const;
  [[nodiscard]] std::vector<Proposal> proposals(NodeId node) const;
  void weigh(NodeId node, std::vector<float>& priors) const;

  const RecordedGraph& graph_;
  Recording::Steps steps_;
  std::vector<Visited> nodes_;  // by NodeId
  std::vector<NodeId> opened_;
};

}  // namespace warpath
