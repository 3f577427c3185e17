#include <algorithm>
#include <vector>

#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// Steady-state genetic algorithm (Whitley 1989): two parents by tournaments of two, uniform
/// crossover, mutation; a child replaces the worst of the population if it is better.
class Genetic final : public Strategy {
 public:
  explicit Genetic(const SearchOptions& options)
      : size_(static_cast<std::size_t>(options.population)), mutation_(options.mutation) {}

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
               [](const SearchOptions& options) { return std::make_unique<Genetic>(options); });
}

}  // namespace warpath
