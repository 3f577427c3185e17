#include <algorithm>
#include <vector>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

struct BestFirstOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double epsilon = 0.1;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = BestFirstOptions;
    v(&O::epsilon, OptionText{"epsilon", "best_first: share of random variants", "docs/search.md"},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<BestFirstOptions>);

/// A neighbour of the best variant that still has an unknown one; with probability epsilon a random
/// variant instead.
class BestFirst final : public Strategy {
 public:
  explicit BestFirst(const Options& options) : epsilon_(options.of<BestFirstOptions>().epsilon) {}

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

  void keep(StrategyState& state, Field&) override { state(open_); }

 private:
  double epsilon_;
  std::vector<NodeId> open_{NodeId{0}};  // best first
};

}  // namespace

void register_strategy_best_first(StrategyRegistry& registry) {
  registry.add("best_first", "a neighbour of the best, at epsilon a random variant",
               [](const Options& options) { return std::make_unique<BestFirst>(options); },
               {&option_group_kind<BestFirstOptions>()});
}

}  // namespace warpath
