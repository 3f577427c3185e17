#include "engine/base/key_table.h"

#include <doctest/doctest.h>

#include <map>

#include "engine/base/rng.h"
#include "engine/search/strategy_state.h"

using namespace warpath;

TEST_SUITE_BEGIN("key_table");

TEST_CASE("keys have the numbers of their first insertion, also after a snapshot") {
  // few bits, so that keys share slots, and equal halves, so that half a key does not tell
  for (const std::uint64_t most : {40U, 3000U}) {
    Rng rng(most, "keys");
    KeyTable table;
    std::map<Hash128, std::uint32_t> expected;
    CHECK(table.find({}) == KeyTable::kNone);
    for (int i = 0; i < 20000; ++i) {
      const Hash128 key{.high = rng.below(most), .low = rng.below(most)};
      const auto known = expected.find(key);
      REQUIRE(table.find(key) == (known == expected.end() ? KeyTable::kNone : known->second));
      if (rng.below(2) == 0) continue;
      const auto [at, created] = expected.try_emplace(key, table.size());
      const KeyTable::Inserted inserted = table.insert(key);
      REQUIRE(inserted.number == at->second);
      REQUIRE(inserted.created == created);
    }
    StrategyState written;
    written(table);
    const std::string bytes = written.take();
    KeyTable read;
    StrategyState reader(bytes, 0, "state");
    reader(read);
    reader.require_end();
    REQUIRE(read.size() == expected.size());
    for (const auto& [key, number] : expected) {
      REQUIRE(read[number] == key);
      REQUIRE(read.find(key) == number);
    }
  }
}

TEST_CASE("a state that has a key twice is refused") {
  std::string bytes;
  for (int i = 0; i < 2; ++i) bytes += std::string("\x07\x09");
  CHECK_THROWS([&] {
    const std::string two = std::string("\x02") + bytes;
    KeyTable table;
    StrategyState(two, 0, "state")(table);
  }());
}

TEST_SUITE_END();
