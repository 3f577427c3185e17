#include <cmath>

#include "engine/base/gumbel.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/selection/highest.h"
#include "register_selections.h"

namespace warpath {
namespace {

struct SoftmaxOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double softmax = 0.3;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = SoftmaxOptions;
    v(&O::softmax,
      OptionText{"softmax", "selection softmax: temperature, in standard deviations of the rewards",
                 ""},
      Range{1e-6, 1000.0});
  }
};
static_assert(kFullyDescribed<SoftmaxOptions>);

/// A draw with probability proportional to P(s,a)^(1/2) exp(Q(s,a) / (softmax * sigma)) / sqrt(1 +
/// N(s,a) + O(s,a)), by Gumbel noise: the visits wear an arm down, so that none is taken for ever.
class Softmax final : public SelectionPolicy {
 public:
  explicit Softmax(const Options& options) : temperature_(options.of<SoftmaxOptions>().softmax) {}

  std::size_t select(std::span<const Arm> arms, const NodeView& node, Rng& rng) const override {
    return first_of_highest(arms, [&](const Arm& a) {
      const double noise = gumbel(rng);
      return a.value / (temperature_ * node.sigma) + 0.5 * std::log((a.prior + 1e-12) / tries(a)) +
             noise;
    });
  }
  [[nodiscard]] bool draws() const override { return true; }

 private:
  double temperature_;
};

}  // namespace

void register_selection_softmax(SelectionRegistry& registry) {
  registry.add("softmax", "drawn by value, prior and visits at a temperature",
               [](const Options& options) { return std::make_unique<Softmax>(options); },
               {&option_group_kind<SoftmaxOptions>()});
}

}  // namespace warpath
