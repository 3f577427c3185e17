#include <algorithm>
#include <vector>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/strategy/population_options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

struct GeneticOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double mutation = 0.1;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = GeneticOptions;
    v(&O::mutation,
      OptionText{"mutation", "genetic: share of tunables that come from neither parent", ""},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<GeneticOptions>);

/// Steady-state genetic algorithm (Whitley 1989): two parents by tournaments of two, uniform
/// crossover, mutation; a child replaces the worst of the population if it is better.
class Genetic final : public Strategy {
 public:
  explicit Genetic(const Options& options)
      : size_(static_cast<std::size_t>(options.of<PopulationOptions>().population)),
        mutation_(options.of<GeneticOptions>().mutation) {}

  NodeId next(Field& field) override {
    if (asked_ < size_ || population_.size() < 2) {
      ++asked_;
      return field.fresh_draw();
    }
    const NodeId child =
        field.fresh([&] { return field.recombine(parent(field), parent(field), mutation_); });
    return child != kNoNode ? child : field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    if (!field.measured(node)) return;
    const auto better = [&](NodeId a, NodeId b) { return field.worth(a) > field.worth(b); };
    population_.insert(std::upper_bound(population_.begin(), population_.end(), node, better),
                       node);
    if (population_.size() > size_) population_.pop_back();
  }

  void keep(StrategyState& state, Field&) override { state(asked_, population_); }

 private:
  NodeId parent(Field& field) const {
    const auto a = field.rng().below(population_.size());
    const auto b = field.rng().below(population_.size());
    return population_[std::min(a, b)];
  }

  std::size_t size_;
  double mutation_;
  std::size_t asked_ = 1;                      // the root
  std::vector<NodeId> population_{NodeId{0}};  // best first
};

}  // namespace

void register_strategy_genetic(StrategyRegistry& registry) {
  registry.add("genetic", "steady-state genetic algorithm with uniform crossover (Whitley 1989)",
               [](const Options& options) { return std::make_unique<Genetic>(options); },
               {&option_group_kind<GeneticOptions>(), &option_group_kind<PopulationOptions>()});
}

}  // namespace warpath
