#include "engine/search/counts.h"

#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "engine/base/rng.h"

using namespace warpath;

TEST_SUITE_BEGIN("counts");

TEST_CASE("no edge has a count at first") {
  const Counts<EdgeId> edges;
  CHECK(edges[EdgeId{0}] == 0);
  CHECK(edges.size() == 0);
}

TEST_CASE("the table agrees with a map, whatever comes and goes") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "paths");
    const std::uint64_t ids = 1 + rng.below(300), stride = 1 + rng.below(1U << 20U),
                        most_paths = 1 + rng.below(40);
    Counts<EdgeId> edges;
    std::map<EdgeId, std::uint32_t> expected;
    std::vector<std::vector<EdgeId>> paths;
    for (int step = 0; step < 400; ++step) {
      if (paths.size() < most_paths && rng.below(2) == 0) {
        auto& path = paths.emplace_back();
        for (std::uint64_t i = rng.below(24); i > 0; --i)
          path.push_back(EdgeId{static_cast<std::uint32_t>(rng.below(ids) * stride)});
        for (const EdgeId e : path) edges.add(e), ++expected[e];
      } else if (!paths.empty()) {
        const auto it = paths.begin() + static_cast<std::ptrdiff_t>(rng.below(paths.size()));
        for (const EdgeId e : *it) {
          edges.remove(e);
          if (--expected[e] == 0) expected.erase(e);
        }
        paths.erase(it);
      }
      REQUIRE(edges.size() == expected.size());
      for (std::uint64_t i = 0; i < ids; ++i) {
        const EdgeId e{static_cast<std::uint32_t>(i * stride)};
        const auto it = expected.find(e);
        REQUIRE(edges[e] == (it == expected.end() ? 0 : it->second));
      }
    }
  }
}

TEST_SUITE_END();
