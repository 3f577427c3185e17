#include <cmath>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
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
    std::size_t chosen = 0;
    double highest = 0;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const Arm& a = arms[i];
      const double tried = 1 + static_cast<double>(a.visits) + static_cast<double>(a.in_flight);
      const double score = a.value + c_ * node.sigma / std::sqrt(tried) * rng.normal();
      if (i == 0 || score > highest) chosen = i, highest = score;
    }
    return chosen;
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
