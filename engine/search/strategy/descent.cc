#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// Descent over neighbours that differ in one or two tunables, from the best of a few random draws;
/// a worse neighbour is entered with probability `escape`. The rule of KTT's Markov chain searcher
/// (Petrovic et al. 2020).
class Descent final : public Strategy {
 public:
  explicit Descent(const SearchOptions& options)
      : initial_(options.initial), escape_(options.escape) {}

  NodeId next(Field& field) override {
    if (drawn_ < initial_) {
      ++drawn_;
      return field.fresh_draw();
    }
    const NodeId near = field.fresh([&] { return field.neighbour(current_, 2); });
    return near != kNoNode ? near : field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    if (!field.measured(node)) return;
    if (field.worth(node) >= field.worth(current_) ||
        (drawn_ >= initial_ && field.rng().uniform() < escape_))
      current_ = node;
  }

 private:
  int initial_;
  double escape_;
  int drawn_ = 1;  // the root
  NodeId current_{0};
};

}  // namespace

void register_strategy_descent(StrategyRegistry& registry) {
  registry.add(
      "descent",
      "first better neighbour within two tunables, rarely a worse one (KTT's Markov chain rule)",
      [](const SearchOptions& options) { return std::make_unique<Descent>(options); });
}

}  // namespace warpath
