#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// Greedy iterated local search (Lourenco, Martin and Stutzle 2003): the first better neighbour,
/// until there is none; then a kick of several changes from the best optimum so far.
class IteratedLocalSearch final : public Strategy {
 public:
  NodeId next(Field& field) override {
    const NodeId near = field.fresh([&] {
      const Field::Arrival arrival = field.neighbour(current_, 1);
      if (!arrival.fresh && arrival.node != kNoNode &&
          field.worth(arrival.node) > field.worth(current_))
        current_ = arrival.node;
      return arrival;
    });
    if (near != kNoNode) return near;
    if (field.worth(current_) > field.worth(best_)) best_ = current_;
    const NodeId kicked = field.fresh([&] { return field.neighbour(best_, kKick); });
    kicked_ = kicked != kNoNode ? kicked : field.fresh_draw();
    return kicked_;
  }

  void complete(Field& field, NodeId node) override {
    if (!field.measured(node)) return;
    if (node == kicked_ || field.worth(node) > field.worth(current_)) current_ = node;
    if (field.worth(node) > field.worth(best_)) best_ = node;
  }

  void keep(StrategyState& state, Field&) override { state(current_, best_, kicked_); }

 private:
  static constexpr int kKick = 4;
  NodeId current_{0};
  NodeId best_{0};
  NodeId kicked_ = kNoNode;
};

}  // namespace

void register_strategy_ils(StrategyRegistry& registry) {
  registry.add("ils", "greedy local search with kicks from the best optimum (Lourenco et al. 2003)",
               [](const Options&) { return std::make_unique<IteratedLocalSearch>(); });
}

}  // namespace warpath
