#pragma once

#include <cstdint>

#include "engine/search/strategy_state.h"

namespace warpath {

/// What a step changes, as far as the space tells (Space::label, site and family); 0: unknown.
struct Change {
  std::uint64_t label = 0;
  std::uint64_t site = 0;
  std::uint64_t family = 0;
  void keep(StrategyState& state) { state(label, site, family); }
};

}  // namespace warpath
