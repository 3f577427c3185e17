#pragma once

#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// Of every widening policy: what an untried action is worth before it was played.
struct FirstPlayOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double rho = 0.6;
  [[nodiscard]] double value(double own_reward, double sigma) const {
    return own_reward - rho * sigma;
  }
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = FirstPlayOptions;
    v(&O::rho,
      OptionText{"rho", "first-play reduction of the widen arm, in standard deviations",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 10.0});
  }
};
static_assert(kFullyDescribed<FirstPlayOptions>);

}  // namespace warpath
