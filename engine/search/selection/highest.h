#pragma once

#include <cstddef>
#include <span>

#include "engine/plugin/policy.h"

namespace warpath {

/// 1 more than how often an arm was taken, evaluations in flight included.
[[nodiscard]] inline double tries(const Arm& arm) {
  return 1 + static_cast<double>(arm.visits) + static_cast<double>(arm.in_flight);
}

/// The first arm with the highest score. `score` is called once for each arm, in order.
template <class Score>
[[nodiscard]] std::size_t first_of_highest(std::span<const Arm> arms, Score score) {
  std::size_t chosen = 0;
  double highest = 0;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const double value = score(arms[i]);
    if (i == 0 || value > highest) chosen = i, highest = value;
  }
  return chosen;
}

}  // namespace warpath
