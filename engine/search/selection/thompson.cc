#include <cmath>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/selection/highest.h"
#include "engine/search/selection/ucb1_options.h"
#include "register_selections.h"

namespace warpath {
namespace {

/// The greatest of draws from a normal distribution around Q(s,a) of deviation c_ucb1 * sigma /
/// sqrt(1 + N(s,a) + O(s,a)). Thompson 1933.
class Thompson final : public SelectionPolicy {
 public:
  explicit Thompson(const Options& options) : c_(options.of<Ucb1Options>().c_ucb1) {}

  std::size_t select(std::span<const Arm> arms, const NodeView& node, Rng& rng) const override {
    return first_of_highest(arms, [&](const Arm& a) {
      return a.value + c_ * node.sigma / std::sqrt(tries(a)) * rng.normal();
    });
  }
  [[nodiscard]] bool draws() const override { return true; }

 private:
  double c_;
};

}  // namespace

void register_selection_thompson(SelectionRegistry& registry) {
  registry.add("thompson", "the greatest of normal draws around the values (Thompson 1933)",
               [](const Options& options) { return std::make_unique<Thompson>(options); },
               {&option_group_kind<Ucb1Options>()});
}

}  // namespace warpath
