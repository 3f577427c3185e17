#pragma once

#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// Of the selection policies whose bound grows as that of UCB1.
struct Ucb1Options {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double c_ucb1 = 0.3;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = Ucb1Options;
    v(&O::c_ucb1,
      OptionText{"c_ucb1",
                 "ucb1: exploration constant, in units of the reward's standard deviation",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 100.0});
  }
};
static_assert(kFullyDescribed<Ucb1Options>);

}  // namespace warpath
