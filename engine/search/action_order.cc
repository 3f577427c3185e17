#include "engine/search/action_order.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"

namespace warpath {

std::uint64_t ActionOrders::tie_break(const Hash128& key, std::uint32_t action) const {
  return mix64(mix64(key.low ^ mix64(key.high ^ mix64(seed_))) + action);
}

void ActionOrders::set(NodeId node, const Hash128& key, std::span<const float> priors) {
  const bool equal =
      std::all_of(priors.begin(), priors.end(), [&](float p) { return p == priors.front(); });
  if (equal && priors.size() <= kMostDerived) {
    if (index(node) >= derived_.size()) derived_.resize(index(node) + std::size_t{1});
    derived_[index(node)] = true;
    return;
  }
  std::vector<Choice> order;
  order.reserve(priors.size());
  for (std::uint32_t a = 0; a < priors.size(); ++a) order.push_back({a, priors[a]});
  std::ranges::sort(order, [&](const Choice& x, const Choice& y) {
    if (x.prior != y.prior) return x.prior > y.prior;
    const std::uint64_t rank_x = tie_break(key, x.action);
    const std::uint64_t rank_y = tie_break(key, y.action);
    return rank_x != rank_y ? rank_x < rank_y : x.action < y.action;
  });
  stored_.add(node, std::make_shared<const std::vector<Choice>>(std::move(order)), priors.size());
}

float ActionOrders::prior(NodeId node, std::uint32_t rank, std::uint32_t count) const {
  return derived(node) ? 1.0F / static_cast<float>(count) : stored_.find(node)->at(rank).prior;
}

ActionOrders::Choice ActionOrders::at(NodeId node,
                                      const Hash128& key,
                                      std::uint32_t rank,
                                      std::uint32_t count) const {
  if (!derived(node)) return stored_.find(node)->at(rank);
  // The tie-break with its low bits replaced by the action: one word to sort, and the action comes
  // with it.
  std::array<std::uint64_t, kMostDerived> ranked{};
  for (std::uint32_t a = 0; a < count; ++a)
    ranked[a] = (tie_break(key, a) & ~std::uint64_t{kMostDerived - 1}) | a;
  std::nth_element(ranked.begin(), ranked.begin() + rank, ranked.begin() + count);
  const auto action = static_cast<std::uint32_t>(ranked[rank] & (kMostDerived - 1));
  return {action, 1.0F / static_cast<float>(count)};
}

}  // namespace warpath
