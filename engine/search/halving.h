#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// Noisy measurements of one candidate, in chronological order.
struct Readings {
  std::vector<double> rewards;
  bool refused = false;  ///< one of them failed, which eliminates the candidate
  void keep(StrategyState& state) { state(rewards, refused); }
};

/// State of a sequential halving.
struct Bracket {
  std::vector<NodeId> due;  ///< to be measured once more now, in this order; empty: decided
  /// once decided: the winners best first, then the others, last eliminated first; without refused
  /// ones
  std::vector<NodeId> order;
};

/// Sequential halving of candidates with noisy rewards (Karnin, Koren and Somekh 2013, "Almost
/// optimal exploration in multi-armed bandits"): heat h = 0, 1, ... measures every survivor 2^h
/// more times, ranks them by the mean of their 2^(h+1) - 1 readings (ties: the given order) and
/// keeps the better half, but no fewer than `winners` (at least 1). As survivors halve and readings
/// double, all heats cost about the same. No heat is held for `winners` or fewer candidates.
///
/// A pure function: called again after each reading, it returns what is due next, so that the
/// readings are the only state. Readings beyond those a heat asks for are ignored.
[[nodiscard]] Bracket sequential_halving(std::span<const NodeId> candidates,
                                         std::size_t winners,
                                         const std::map<NodeId, Readings>& readings);

}  // namespace warpath
