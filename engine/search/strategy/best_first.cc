#include <algorithm>
#include <vector>

#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// A neighbour of the best variant that still has an unknown one; with probability epsilon a random
/// variant instead.
class BestFirst final : public Strategy {
 public:
  explicit BestFirst(const SearchOptions& options) : epsilon_(options.epsilon) {}

  NodeId next(Field& field) override {
    if (field.rng().uniform() < epsilon_) return field.fresh_draw();
    while (!open_.empty()) {
      const NodeId near = field.fresh([&] { return field.neighbour(open_.front(), 1); });
      if (near != kNoNode) return near;
      open_.erase(open_.begin());
    }
    return field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    if (!field.measured(node)) return;
    const auto better = [&](NodeId a, NodeId b) { return field.worth(a) > field.worth(b); };
    open_.insert(std::upper_bound(open_.begin(), open_.end(), node, better), node);
  }

 private:
  double epsilon_;
  std::vector<NodeId> open_{NodeId{0}};  // best first
};

}  // namespace

void register_strategy_best_first(StrategyRegistry& registry) {
  registry.add("best_first", "a neighbour of the best, at epsilon a random variant",
               [](const SearchOptions& options) { return std::make_unique<BestFirst>(options); });
}

}  // namespace warpath
