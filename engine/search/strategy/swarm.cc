#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/strategy/population_options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// Particle swarm (Kennedy and Eberhart 1995; constants of Clerc and Kennedy 2002) over the levels
/// of the tunables, rounded. A position that is illegal or known is stepped on; where there are no
/// tunables a particle is recombined with its best and the swarm's.
class Swarm final : public Strategy {
 public:
  explicit Swarm(const Options& options)
      : particles_(static_cast<std::size_t>(options.of<PopulationOptions>().population)) {}

  NodeId next(Field& field) override {
    turn_ = (turn_ + 1) % particles_.size();
    Particle& particle = particles_[turn_];
    if (particle.best == kNoNode) return owned(field.fresh_draw());
    const NodeId made = field.fresh([&] { return step(field, particle); });
    return owned(made != kNoNode ? made : field.fresh_draw());
  }

  void complete(Field& field, NodeId node) override {
    const auto it = std::find(flights_.begin(), flights_.end(), node);
    if (it == flights_.end() || !field.measured(node)) return;
    Particle& particle = particles_[static_cast<std::size_t>(it - flights_.begin())];
    if (particle.best == kNoNode) settle(field, particle, node);
    if (field.worth(node) > field.worth(particle.best)) particle.best = node;
    if (field.worth(node) > field.worth(best_)) best_ = node;
  }

  void keep(StrategyState& state, Field&) override { state(particles_, flights_, turn_, best_); }

 private:
  struct Particle {
    std::vector<double> position, velocity;  // by axis
    NodeId best = kNoNode;
    void keep(StrategyState& state) { state(position, velocity, best); }
  };

  NodeId owned(NodeId node) {
    flights_.resize(particles_.size(), kNoNode);
    return flights_[turn_] = node;
  }

  static void settle(Field& field, Particle& particle, NodeId node) {
    particle.best = node;
    if (field.lattice() == nullptr) return;
    std::vector<Level> levels(field.lattice()->axes());
    field.levels(node, levels);
    particle.position.assign(levels.begin(), levels.end());
    particle.velocity.assign(levels.size(), 0.0);
  }

  Field::Arrival step(Field& field, Particle& particle) {
    const Lattice* const space = field.lattice();
    if (space == nullptr || !space->complete()) return field.recombine(particle.best, best_, 0.1);
    constexpr double kInertia = 0.7298, kPull = 1.4962;
    const std::size_t axes = space->axes();
    std::vector<Level> own(axes), all(axes), point(axes);
    field.levels(particle.best, own);
    field.levels(best_, all);
    for (std::size_t i = 0; i < axes; ++i) {
      const double top = static_cast<double>(space->levels(i)) - 1;
      double& x = particle.position[i];
      double& v = particle.velocity[i];
      v = kInertia * v + kPull * field.rng().uniform() * (own[i] - x) +
          kPull * field.rng().uniform() * (all[i] - x);
      v = std::clamp(v + 0.1 * field.rng().normal(), -top, top);
      x = std::clamp(x + v, 0.0, top);
      point[i] = static_cast<Level>(std::lround(x));
    }
    return space->legal(point) ? field.visit(NodeId{0}, point) : Field::Arrival{};
  }

  std::vector<Particle> particles_;
  std::vector<NodeId> flights_;  // by particle: what it is at
  std::size_t turn_ = 0;
  NodeId best_{0};
};

}  // namespace

void register_strategy_swarm(StrategyRegistry& registry) {
  registry.add("swarm",
               "particle swarm over the levels of the tunables (Kennedy and Eberhart 1995)",
               [](const Options& options) { return std::make_unique<Swarm>(options); },
               {&option_group_kind<PopulationOptions>()});
}

}  // namespace warpath
