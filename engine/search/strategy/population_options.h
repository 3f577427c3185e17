#pragma once

#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// Of the strategies that keep a population.
struct PopulationOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  int population = 20;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = PopulationOptions;
    v(&O::population, OptionText{"population", "genetic, swarm: variants kept", ""},
      Range{2, 100000});
  }
};
static_assert(kFullyDescribed<PopulationOptions>);

}  // namespace warpath
