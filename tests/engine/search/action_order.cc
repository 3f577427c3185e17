#include "engine/search/action_order.h"

#include <doctest/doctest.h>

#include <vector>

using namespace warpath;

namespace {

constexpr std::uint32_t kActions = 60'000;

Hash128 key(std::uint32_t node) {
  return {.high = 3, .low = node};
}

/// Few differ, so that most places are by tie-break.
std::vector<float> unequal_priors() {
  std::vector<float> out(kActions);
  for (std::uint32_t i = 0; i < kActions; ++i) out[i] = 1e-5F * static_cast<float>(1 + i % 7);
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("action_order");

TEST_CASE("an order that was dropped is the same when its node is opened again") {
  ActionOrders orders(1);
  const std::vector<float> priors = unequal_priors();
  const auto order_of = [&](NodeId node) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t rank = 0; rank < kActions; ++rank)
      out.push_back(orders.at(node, key(index(node)), rank, kActions).action);
    return out;
  };
  constexpr std::uint32_t kKept = 8;
  for (std::uint32_t node = 0; node < kKept; ++node) orders.set(NodeId{node}, key(node), priors);
  CHECK(orders.prior(NodeId{0}, 0, kActions) == priors[6]);
  const std::vector<std::uint32_t> before = order_of(NodeId{1});
  for (std::uint32_t node = 0; node < kKept; ++node) {
    if (node != 1) REQUIRE(orders.has(NodeId{node}));
  }
  orders.set(NodeId{kKept}, key(kKept), priors);
  CHECK(!orders.has(NodeId{1}));  // the one used longest ago
  CHECK(orders.has(NodeId{0}));
  orders.set(NodeId{1}, key(1), priors);
  CHECK(order_of(NodeId{1}) == before);
}

TEST_CASE("few equal priors are never dropped, and their order depends on seed and key") {
  const std::vector<float> priors(16, 0.0625F);
  ActionOrders orders(1), others(2);
  const NodeId first{0};
  orders.set(first, key(0), priors);
  others.set(first, key(0), priors);
  for (std::uint32_t node = 1; node < 20; ++node)
    orders.set(NodeId{node}, key(node), unequal_priors());
  CHECK(orders.has(first));
  CHECK(!orders.has(NodeId{100}));
  std::vector<std::uint32_t> one, other;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    one.push_back(orders.at(first, key(0), rank, 16).action);
    other.push_back(others.at(first, key(0), rank, 16).action);
  }
  CHECK(one != other);
  CHECK(orders.prior(first, 3, 16) == 0.0625F);
}

TEST_SUITE_END();
