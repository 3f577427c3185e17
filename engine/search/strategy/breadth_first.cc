#include <vector>

#include "register_strategies.h"

namespace warpath {
namespace {

/// Every variant in order of its distance from the root, so that what was evaluated is all there is
/// within that distance: a sweep to record. Variants whose outcomes are awaited are passed over and
/// come back.
class BreadthFirst final : public Strategy {
 public:
  NodeId next(Field& field) override {
    for (std::uint32_t i = first_; i < field.graph().node_count(); ++i) {
      const NodeId node{i};
      if (i >= tried_.size()) tried_.resize(i + 1);
      if (field.graph()[node].state == NodeState::pending) continue;
      const std::uint32_t actions = field.actions(node);
      while (tried_[i] < actions) {
        if (const Field::Arrival arrival = field.act(node, tried_[i]++); arrival.fresh)
          return arrival.node;
      }
      if (i == first_) ++first_;
    }
    return kNoNode;
  }

  void keep(StrategyState& state, Field&) override { state(first_, tried_); }

 private:
  std::uint32_t first_ = 0;           // all before it have been tried in every way
  std::vector<std::uint32_t> tried_;  // actions, by NodeId
};

}  // namespace

void register_strategy_breadth_first(StrategyRegistry& registry) {
  registry.add("breadth_first", "all moves of the first variant, then of the second: for recording",
               [](const Options&) { return std::make_unique<BreadthFirst>(); });
}

}  // namespace warpath
