#include "engine/search/halving.h"

#include <algorithm>
#include <limits>

#include "engine/base/statistics.h"

namespace warpath {
namespace {

/// The readings of one candidate in a heat.
struct Standing {
  NodeId node;
  std::span<const double> rewards;
  bool refused = false;
};

/// Of the first `most` readings; lower than anything without one.
double mean(const Standing& s, std::size_t most) {
  const std::size_t count = std::min(most, s.rewards.size());
  if (count == 0) return -std::numeric_limits<double>::infinity();
  return warpath::mean(s.rewards.first(count));
}

/// The survivors with the fewest readings, if that is less than `wanted`: each is read once more.
/// Reading in rounds spends little on candidates that are refused in the meantime.
std::vector<NodeId> unread(std::span<const Standing> survivors, std::size_t wanted) {
  std::size_t fewest = wanted;
  for (const Standing& s : survivors) fewest = std::min(fewest, s.rewards.size());
  std::vector<NodeId> out;
  for (const Standing& s : survivors) {
    if (fewest < wanted && s.rewards.size() == fewest) out.push_back(s.node);
  }
  return out;
}

}  // namespace

Bracket sequential_halving(std::span<const NodeId> candidates,
                           std::size_t winners,
                           const std::map<NodeId, Readings>& readings) {
  std::vector<Standing> survivors;
  for (const NodeId node : candidates) {
    const auto known = readings.find(node);
    if (known == readings.end())
      survivors.push_back({.node = node, .rewards = {}});
    else if (!known->second.refused)
      survivors.push_back({.node = node, .rewards = known->second.rewards});
  }
  winners = std::max<std::size_t>(winners, 1);
  Bracket out;
  std::size_t wanted = 1;
  for (; survivors.size() > winners; wanted = 2 * wanted + 1) {
    out.due = unread(survivors, wanted);
    if (!out.due.empty()) return {.due = std::move(out.due), .order = {}};
    std::ranges::stable_sort(survivors, std::ranges::greater{},
                             [&](const Standing& s) { return mean(s, wanted); });
    const std::size_t kept = std::max(winners, (survivors.size() + 1) / 2);
    std::vector<NodeId> lost;
    for (std::size_t i = kept; i < survivors.size(); ++i) lost.push_back(survivors[i].node);
    out.order.insert(out.order.begin(), lost.begin(), lost.end());
    survivors.resize(kept, survivors.front());
  }
  std::ranges::stable_sort(survivors, std::ranges::greater{},
                           [&](const Standing& s) { return mean(s, wanted); });
  std::vector<NodeId> won;
  for (const Standing& s : survivors) won.push_back(s.node);
  out.order.insert(out.order.begin(), won.begin(), won.end());
  return out;
}

}  // namespace warpath
