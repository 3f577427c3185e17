#include <algorithm>
#include <cmath>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/selection/highest.h"
#include "engine/search/selection/ucb1_options.h"
#include "register_selections.h"

namespace warpath {
namespace {

/// S(a) = M + c_ucb1 * 2h * sqrt(6 N ln(T + 1) / (1 + O)): UCB1-Uniform, (u + l) / 2 + (u - l)
/// sqrt(6 t ln T), for arms whose rewards are uniform between l and u; Asai and Wissow 2026, arXiv
/// 2405.18248. By moments: the middle is the child's mean M, half the width h = B - M its distance
/// to the best. Three things are not of the paper: h is at least sigma / (1 + N), since the best of
/// one reward is that reward; evaluations in flight divide the bonus; the widen arm has its
/// first-play value, N = 1 and h = sigma / 2.
class Ucb1Uniform final : public SelectionPolicy {
 public:
  explicit Ucb1Uniform(const Options& options) : c_(options.of<Ucb1Options>().c_ucb1) {}

  std::size_t select(std::span<const Arm> arms, const NodeView& node, Rng&) const override {
    const double growth = 6 * std::log(static_cast<double>(node.total_visits) + 1);
    return first_of_highest(arms, [&](const Arm& a) {
      const double visits = a.is_widen ? 1 : a.visits;
      const double middle = a.is_widen ? a.value : a.mean;
      const double half = std::max(a.is_widen ? 0 : a.best - a.mean, node.sigma / (1 + visits));
      return middle +
             c_ * 2 * half * std::sqrt(growth * visits / (1 + static_cast<double>(a.in_flight)));
    });
  }

 private:
  double c_;
};

}  // namespace

void register_selection_ucb1_uniform(SelectionRegistry& registry) {
  registry.add("ucb1_uniform",
               "upper bound of rewards uniform between bounds (Asai and Wissow 2026)",
               [](const Options& options) { return std::make_unique<Ucb1Uniform>(options); },
               {&option_group_kind<Ucb1Options>()});
}

}  // namespace warpath
