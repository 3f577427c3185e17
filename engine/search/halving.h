#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "engine/base/ids.h"

namespace warpath {

/// Noisy measurements of one candidate, in the order in which they were made.
struct Readings {
  std::vector<double> rewards;
  bool refused = false;  ///< one of them failed: out, whatever the others said
};

/// Where a sequential halving stands.
struct Bracket {
  std::vector<NodeId> due;  ///< to be read once more now, in this order; empty: decided
  /// once decided: the winners best first, then the others, who was out last first; none that was
  /// refused
  std::vector<NodeId> order;
};

/// Sequential halving of candidates whose rewards are known through noise (Karnin, Koren and Somekh
/// 2013, "Almost optimal exploration in multi-armed bandits"): heat h = 0, 1, ... reads every
/// survivor 2^h times more, ranks them by the mean of their 2^(h+1) - 1 readings (ties: the order
/// given) and keeps the better half, but no fewer than `winners` (at least 1). As survivors halve
/// and readings double, every heat costs about as much. No heat is held for `winners` or fewer.
///
/// A pure function: called again after each reading it says what is due next, so that a record of
/// the readings is all there is to keep. Readings beyond what a heat asks for are not looked at,
/// whatever they say.
[[nodiscard]] Bracket sequential_halving(std::span<const NodeId> candidates,
                                         std::size_t winners,
                                         const std::map<NodeId, Readings>& readings);

}  // namespace warpath
