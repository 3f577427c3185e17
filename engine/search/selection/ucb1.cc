#include <cmath>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/selection/highest.h"
#include "engine/search/selection/ucb1_options.h"
#include "register_selections.h"

namespace warpath {
namespace {

/// S(a) = Q(s,a) + c_ucb1 * sigma * sqrt(2 ln(T + 1) / (1 + N(s,a) + O(s,a))). Auer, Cesa-Bianchi
/// and Fischer 2002 with unobserved visits after Liu et al. 2020; the 1 in the denominator gives
/// the untried widen arm a finite bound. Priors only order the untried actions.
class Ucb1 final : public SelectionPolicy {
 public:
  explicit Ucb1(const Options& options) : c_(options.of<Ucb1Options>().c_ucb1) {}

  std::size_t select(std::span<const Arm> arms, const NodeView& node, Rng&) const override {
    const double scale =
        c_ * node.sigma * std::sqrt(2 * std::log(static_cast<double>(node.total_visits) + 1));
    return first_of_highest(arms,
                            [&](const Arm& a) { return a.value + scale / std::sqrt(tries(a)); });
  }
  [[nodiscard]] bool by_score() const override { return true; }

 private:
  double c_;
};

}  // namespace

void register_selection_ucb1(SelectionRegistry& registry) {
  registry.add("ucb1", "value plus upper confidence bound, priors unused (Auer et al. 2002)",
               [](const Options& options) { return std::make_unique<Ucb1>(options); },
               {&option_group_kind<Ucb1Options>()});
}

}  // namespace warpath
