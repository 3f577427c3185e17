#include "engine/base/pool.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>

using namespace warpath;

namespace {

/// Small blocks, and large ones that were grown several times.
constexpr std::uint32_t kElements = 20'000'000;

bool holds(const Pool<std::uint64_t>& pool, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (pool[i] != std::uint64_t{i} * i) return false;
  }
  return pool.size() == count;
}

}  // namespace

TEST_SUITE_BEGIN("pool");

TEST_CASE("a pool holds what was put into it, however large it becomes") {
  Pool<std::uint64_t> pool;
  CHECK(pool.empty());
  for (std::uint32_t i = 0; i < kElements; ++i) {
    pool.push_back(std::uint64_t{i} * i);
    if ((i & (i + 1)) == 0) REQUIRE(holds(pool, i + 1));
  }
  CHECK(holds(pool, kElements));
  const Pool<std::uint64_t> copy = pool;
  const Pool<std::uint64_t> moved = std::move(pool);
  CHECK(holds(copy, kElements));
  CHECK(holds(moved, kElements));
  Pool<std::uint64_t> at_once;
  at_once.reserve(kElements);
  CHECK(at_once.empty());
  at_once.push_back(0);
  CHECK(holds(at_once, 1));
}

TEST_SUITE_END();
