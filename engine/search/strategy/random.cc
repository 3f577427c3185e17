#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// Uniform draws without replacement: what every other strategy has to beat.
class RandomDraws final : public Strategy {
 public:
  NodeId next(Field& field) override { return field.fresh_draw(); }
  void keep(StrategyState&, Field&) override {}
};

}  // namespace

void register_strategy_random(StrategyRegistry& registry) {
  registry.add("random", "uniform draws without replacement",
               [](const Options&) { return std::make_unique<RandomDraws>(); });
}

}  // namespace warpath
