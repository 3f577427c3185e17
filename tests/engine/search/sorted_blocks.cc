#include "engine/search/sorted_blocks.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

#include "engine/base/rng.h"

using namespace warpath;

namespace {

struct Element {
  std::uint32_t key = 0;  // which alone is compared
  std::uint32_t number = 0;
  bool operator==(const Element&) const = default;
  void keep(StrategyState& state) { state(key, number); }
};

}  // namespace

TEST_SUITE_BEGIN("sorted_blocks");

TEST_CASE("blocks hold what one sorted sequence holds, of equal ones the newest last") {
  for (const std::uint64_t most : {5U, 500U, 5000U}) {
    CAPTURE(most);
    Rng rng(most, "elements");
    const auto less = [](const Element& a, const Element& b) { return a.key < b.key; };
    SortedBlocks<Element> blocks;
    std::vector<Element> expected;
    const auto bytes = [](auto& kept) {
      StrategyState state;
      state(kept);
      return state.take();
    };
    for (std::uint32_t i = 0; i < 20000; ++i) {
      const Element one{static_cast<std::uint32_t>(rng.below(most)), i};
      if (rng.below(3) > 0 || expected.empty()) {
        blocks.insert(one, less);
        expected.insert(std::ranges::upper_bound(expected, one, less), one);
      } else if (rng.below(3) == 0) {
        blocks.pop_back();
        expected.pop_back();
      } else {
        const Element other = rng.below(9) == 0 ? one : expected[rng.below(expected.size())];
        blocks.erase(other, less);
        std::erase(expected, other);
      }
      REQUIRE(blocks.empty() == expected.empty());
      if (!expected.empty()) REQUIRE(blocks.back() == expected.back());
      const auto below = std::ranges::lower_bound(expected, one, less);
      const Element* const last = blocks.last_below(one, less);
      REQUIRE((last == nullptr) == (below == expected.begin()));
      if (last != nullptr) REQUIRE(*last == *std::prev(below));
      if (i % 1000 == 0) REQUIRE(bytes(blocks) == bytes(expected));
    }
  }
}

TEST_SUITE_END();
