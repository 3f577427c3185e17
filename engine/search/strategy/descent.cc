#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/strategy/start_options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

struct DescentOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double escape = 0.02;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = DescentOptions;
    v(&O::escape, OptionText{"escape", "descent: probability of entering a worse neighbour", "KTT"},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<DescentOptions>);

/// Descent over neighbours that differ in one or two tunables, from the best of a few random draws;
/// a worse neighbour is entered with probability `escape`. The rule of KTT's Markov chain searcher
/// (Petrovic et al. 2020).
class Descent final : public Strategy {
 public:
  explicit Descent(const Options& options)
      : initial_(options.of<StartOptions>().initial),
        escape_(options.of<DescentOptions>().escape) {}

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

  void keep(StrategyState& state, Field&) override { state(drawn_, current_); }

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
      [](const Options& options) { return std::make_unique<Descent>(options); },
      {&option_group_kind<DescentOptions>(), &option_group_kind<StartOptions>()});
}

}  // namespace warpath
