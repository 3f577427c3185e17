#include "engine/search/relinking.h"

#include <doctest/doctest.h>

#include <set>

#include "engine/base/rng.h"

using namespace warpath;

namespace {

// a tile of 32 or of 64, lanes of 4 or of 8, a hint: label, site, family
constexpr Change kTile32{.label = 1, .site = 10, .family = 100};
constexpr Change kTile64{.label = 2, .site = 10, .family = 100};
constexpr Change kLanes4{.label = 3, .site = 20, .family = 200};
constexpr Change kLanes8{.label = 4, .site = 20, .family = 200};
constexpr Change kHint{.label = 5, .site = 30, .family = 300};

}  // namespace

TEST_CASE("relinking makes another step of the kind, then the rest of the way") {
  Rng rng(1, "test");
  Relinking relinking;
  CHECK_FALSE(relinking.under_way());
  relinking.begin({kHint, kLanes4, kTile32});
  REQUIRE(relinking.under_way());
  const Relinking::Step first[] = {{.change = kTile32}, {.change = kHint}, {.change = kTile64}};
  CHECK(relinking.next(first, rng) == 2);
  const Relinking::Step then[] = {{.change = kHint}, {.change = kLanes8}, {.change = kLanes4}};
  CHECK(relinking.next(then, rng) == 2);
  CHECK(relinking.next(then, rng) == 0);
  CHECK_FALSE(relinking.under_way());
}

TEST_CASE("a step of the way that is not there is made at its place in another form, or left out") {
  Rng rng(1, "test");
  Relinking relinking;
  relinking.begin({kHint, kLanes4, kTile32});
  const Relinking::Step first[] = {{.change = kTile64}};
  CHECK(relinking.next(first, rng) == 0);
  SUBCASE("of several the one of greatest gain") {
    constexpr Change kLanes16{.label = 6, .site = 20, .family = 200};
    const Relinking::Step then[] = {{.change = kLanes8, .gain = -1},
                                    {.change = kLanes16, .gain = 0.5},
                                    {.change = kHint, .gain = 2}};
    CHECK(relinking.next(then, rng) == 1);
    CHECK(relinking.under_way());
  }
  SUBCASE("of none the way goes on") {
    const Relinking::Step then[] = {{.change = kTile32}, {.change = kHint}};
    CHECK(relinking.next(then, rng) == 1);
    CHECK_FALSE(relinking.under_way());
  }
  SUBCASE("nor anything after it: it is over") {
    const Relinking::Step then[] = {{.change = kTile32}};
    CHECK(relinking.next(then, rng) == -1);
    CHECK_FALSE(relinking.under_way());
  }
}

TEST_CASE("without another step of the kind there is no relinking") {
  Rng rng(1, "test");
  Relinking relinking;
  const Relinking::Step open[] = {{.change = kTile32}, {.change = kHint}, {.change = {}}};
  SUBCASE("where the kind has one step") relinking.begin({kHint, kTile32});
  SUBCASE("where nothing is known of the step") relinking.begin({kHint, Change{}});
  CHECK(relinking.next(open, rng) == -1);
  CHECK_FALSE(relinking.under_way());
}

TEST_CASE("any other step of the kind may be the first") {
  Rng rng(1, "test");
  constexpr Change kTile128{.label = 7, .site = 11, .family = 100};
  const Relinking::Step open[] = {{.change = kTile64}, {.change = kTile32}, {.change = kTile128}};
  std::set<std::ptrdiff_t> seen;
  for (int i = 0; i < 50; ++i) {
    Relinking relinking;
    relinking.begin({kTile32});
    seen.insert(relinking.next(open, rng));
  }
  CHECK(seen == std::set<std::ptrdiff_t>{0, 2});
}

TEST_CASE("a snapshot in the middle of relinking goes on with the same step") {
  Rng rng(1, "test");
  Relinking relinking;
  relinking.begin({kHint, kLanes4, kTile32});
  StrategyState written;
  relinking.keep(written);
  const std::string bytes = written.take();
  Relinking again;
  StrategyState read(bytes, 1, "test");
  again.keep(read);
  CHECK(read.at_end());
  const Relinking::Step open[] = {{.change = kTile64}, {.change = kLanes4}};
  CHECK(again.next(open, rng) == 0);
  CHECK(again.next(open, rng) == 1);
}
