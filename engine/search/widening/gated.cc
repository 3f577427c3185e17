#include <cmath>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/widening/first_play.h"
#include "register_widenings.h"

namespace warpath {
namespace {

struct GatedOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double widening_k = 2;
  double widening_alpha = 0.5;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = GatedOptions;
    v(&O::widening_k,
      OptionText{"widening_k", "gated widening: children allowed = k * visits^alpha",
                 "Coulom 2007"},
      Range{0.1, 1000.0});
    v(&O::widening_alpha,
      OptionText{"widening_alpha", "gated widening: exponent of visits", "Coulom 2007"},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<GatedOptions>);

/// Progressive widening: the next action is tried as soon as the node has fewer than widening_k *
/// N^widening_alpha children (Coulom 2007; Couetoux et al. 2011).
class Gated final : public WideningPolicy {
 public:
  explicit Gated(const Options& options)
      : options_(options.of<GatedOptions>()), first_play_(options.of<FirstPlayOptions>()) {}

  [[nodiscard]] bool offer(std::uint64_t node_visits,
                           std::uint32_t children,
                           std::uint32_t) const override {
    return static_cast<double>(children) <
           options_.widening_k *
               std::pow(static_cast<double>(node_visits), options_.widening_alpha);
  }
  [[nodiscard]] bool forced() const override { return true; }
  [[nodiscard]] double first_play_value(double own_reward, double, double sigma) const override {
    return first_play_.value(own_reward, sigma);
  }

 private:
  GatedOptions options_;
  FirstPlayOptions first_play_;
};

}  // namespace

void register_widening_gated(WideningRegistry& registry) {
  registry.add(
      "gated",
      "progressive widening: children up to widening_k * visits^widening_alpha (Coulom 2007)",
      [](const Options& options) { return std::make_unique<Gated>(options); },
      {&option_group_kind<GatedOptions>(), &option_group_kind<FirstPlayOptions>()});
}

}  // namespace warpath
