#include <cmath>

#include "engine/base/statistics.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

struct AnnealingOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double temperature = 0.5;
  double cooling = 0.99;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = AnnealingOptions;
    v(&O::temperature,
      OptionText{"temperature",
                 "annealing: first temperature, in standard deviations of the rewards", ""},
      Range{0.0, 1000.0});
    v(&O::cooling, OptionText{"cooling", "annealing: factor of the temperature an evaluation", ""},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<AnnealingOptions>);

/// Simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983): a neighbour that is worse by d is
/// entered with probability exp(-d / T), T = temperature * deviation of the rewards so far *
/// cooling^evaluations: free of the reward's scale.
class Annealing final : public Strategy {
 public:
  explicit Annealing(const Options& options)
      : factor_(options.of<AnnealingOptions>().temperature),
        cooling_(options.of<AnnealingOptions>().cooling),
        floor_(options.search.sigma_floor) {}

  NodeId next(Field& field) override {
    const NodeId near = field.fresh([&] {
      const Field::Arrival arrival = field.neighbour(current_, 2);
      if (!arrival.fresh && arrival.node != kNoNode) enter(field, arrival.node);
      return arrival;
    });
    return near != kNoNode ? near : field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    factor_ *= cooling_;
    if (field.measured(node)) rewards_.add(field.worth(node));
    enter(field, node);
  }

  void keep(StrategyState& state, Field&) override { state(factor_, rewards_, current_); }

 private:
  void enter(Field& field, NodeId node) {
    if (!field.measured(node)) return;
    const double gain = field.worth(node) - field.worth(current_);
    const double temperature = factor_ * std::max(floor_, rewards_.deviation());
    if (gain >= 0 || field.rng().uniform() < std::exp(gain / temperature)) current_ = node;
  }

  double factor_, cooling_, floor_;
  Welford rewards_;
  NodeId current_{0};
};

}  // namespace

void register_strategy_annealing(StrategyRegistry& registry) {
  registry.add(
      "annealing",
      "simulated annealing, temperatures in deviations of the rewards (Kirkpatrick et al. 1983)",
      [](const Options& options) { return std::make_unique<Annealing>(options); },
      {&option_group_kind<AnnealingOptions>()});
}

}  // namespace warpath
