#include <cmath>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/selection/highest.h"
#include "register_selections.h"

namespace warpath {
namespace {

struct PuctOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double c_puct = 0.3;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = PuctOptions;
    v(&O::c_puct,
      OptionText{"c_puct", "exploration constant, in units of the reward's standard deviation",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 100.0});
  }
};
static_assert(kFullyDescribed<PuctOptions>);

/// S(a) = Q(s,a) + c_puct * sigma * P(s,a) * sqrt(T + 1) / (1 + N(s,a) + O(s,a)); the widen arm has
/// N = O = 0 and its first-play value for Q. Rosin 2011, with unobserved visits after Liu et al.
/// 2020 (WU-UCT); sigma makes c_puct free of the reward's scale.
class Puct final : public SelectionPolicy {
 public:
  explicit Puct(const Options& options) : c_(options.of<PuctOptions>().c_puct) {}

  std::size_t select(std::span<const Arm> arms, const NodeView& node, Rng&) const override {
    const double scale = c_ * node.sigma * std::sqrt(static_cast<double>(node.total_visits) + 1);
    return first_of_highest(arms,
                            [&](const Arm& a) { return a.value + scale * a.prior / tries(a); });
  }
  [[nodiscard]] bool by_score() const override { return true; }

 private:
  double c_;
};

}  // namespace

void register_selection_puct(SelectionRegistry& registry) {
  registry.add("puct", "value plus prior-weighted exploration (Rosin 2011)",
               [](const Options& options) { return std::make_unique<Puct>(options); },
               {&option_group_kind<PuctOptions>()});
}

}  // namespace warpath
