#include "runners/synthetic/move_landscape.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"

using namespace warpath;
using Made = MoveLandscape::Made;

namespace {

/// Small enough to look at every variant.
MoveFamily small(MoveFamily family) {
  family.moves = 12;
  family.depth = std::min(family.depth, 8);
  if (family.epistasis == Epistasis::choices || family.epistasis == Epistasis::coupled)
    family.depth = std::min(family.depth, family.moves / family.group);
  if (family.epistasis == Epistasis::coupled) family.depth -= family.depth % 2;
  return family;
}

std::vector<bool> reachable(const MoveLandscape& landscape) {
  std::vector<bool> seen(std::size_t{1} << landscape.moves());
  std::vector<Made> open{0};
  seen[0] = true;
  while (!open.empty()) {
    const Made at = open.back();
    open.pop_back();
    for (int move = 0; move < landscape.moves(); ++move) {
      const Made to = MoveLandscape::apply(at, move);
      if (!landscape.legal(at, move) || seen[to] || landscape.status(to) != Status::ok) continue;
      seen[to] = true;
      open.push_back(to);
    }
  }
  return seen;
}

MoveFamily family(std::string_view name) {
  return move_family(name, "test");
}

}  // namespace

TEST_SUITE_BEGIN("move_landscape");

TEST_CASE("nothing that the root leads to gains more than the optimum, which it leads to") {
  for (const MoveFamily& known : move_families()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(known.name);
      CAPTURE(seed);
      const MoveLandscape landscape(small(known), MovePrior::uniform, seed);
      const std::vector<bool> seen = reachable(landscape);
      CHECK(seen[landscape.optimum()]);
      CHECK(landscape.gain(0) == 0);
      CHECK(landscape.gain(landscape.optimum()) == doctest::Approx(MoveLandscape::kGain));
      for (Made made = 0; made < seen.size(); ++made) {
        const double most = landscape.gain(landscape.optimum()) + 6 * known.jitter + 1e-12;
        if (seen[made]) CHECK(landscape.gain(made) <= most);
      }
    }
  }
}

TEST_CASE("with disjoint groups the optimum is as many moves away as the family says") {
  for (const MoveFamily& known : move_families()) {
    if (known.epistasis == Epistasis::nk) continue;
    CAPTURE(known.name);
    const MoveLandscape landscape(known, MovePrior::uniform, 1);
    CHECK(std::popcount(landscape.optimum()) == known.depth);
  }
}

TEST_CASE("the first move of a pair gains nothing alone, the second loses, and both gain") {
  MoveFamily pairs = family("pairs");
  pairs.moves = pairs.depth = 8;
  const MoveLandscape landscape(pairs, MovePrior::uniform, 1);
  int found = 0;
  for (int first = 0; first < 8; ++first) {
    for (int second = 0; second < 8; ++second) {
      const Made one = Made{1} << first, other = Made{1} << second;
      if (first != second && landscape.gain(one) == 0 && landscape.gain(other) < 0 &&
          landscape.gain(one | other) > 0)
        ++found;
    }
  }
  CHECK(found == 2);
}

TEST_CASE("on a plateau no single move gains, and in a trap every one loses") {
  for (const bool trap : {false, true}) {
    MoveFamily known = family(trap ? "traps" : "plateau");
    known.moves = known.depth;
    const MoveLandscape landscape(known, MovePrior::uniform, 1);
    for (int move = 0; move < known.moves; ++move) {
      const double gain = landscape.gain(Made{1} << move);
      CHECK((trap ? gain < 0 : gain == 0));
    }
  }
}

TEST_CASE("with jitter moves that change nothing seem to, and are not equal code") {
  const MoveLandscape landscape(family("idle"), MovePrior::uniform, 1);
  double squares = 0;
  int idle = 0;
  for (int move = 0; move < landscape.moves(); ++move) {
    const Made made = Made{1} << move;
    CHECK(landscape.code(made) == made);
    if (const double gain = landscape.gain(made); std::abs(gain) < 0.006)
      ++idle, squares += gain * gain;
  }
  REQUIRE(idle >= 20);
  CHECK(std::sqrt(squares / idle) == doctest::Approx(0.001).epsilon(0.5));
}

TEST_CASE("a move closes the others of its group where they exclude each other") {
  const MoveLandscape landscape(family("idle"), MovePrior::uniform, 1);
  int closed = 0;
  for (int move = 0; move < landscape.moves(); ++move) {
    for (int other = 0; other < landscape.moves(); ++other) {
      const bool same = (landscape.group(move) >> other & 1U) != 0;
      if (other == move || landscape.legal(Made{1} << move, other)) continue;
      ++closed;
      CHECK(same);
    }
  }
  CHECK(closed == 6 * 4 * 3);
}

TEST_CASE("coupled places: the best choices alone are not the best together") {
  MoveFamily coupled = family("coupled");
  coupled.moves = 6, coupled.depth = 2, coupled.jitter = 0;
  int misled = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const MoveLandscape landscape(coupled, MovePrior::uniform, seed);
    Made best = 0;
    for (int move = 0; move < 6; ++move) {
      const Made made = Made{1} << move;
      CHECK(std::popcount(landscape.group(move)) == 3);
      CHECK(landscape.gain(made) < MoveLandscape::kGain / 2);
      if (landscape.gain(made) > landscape.gain(best)) best = made;
    }
    if ((best & landscape.optimum()) == 0) ++misled;
  }
  CHECK(misled > 15);  // two in three if nothing leads
  CHECK(misled < 38);
}

TEST_CASE("in a chain a move gains only after those before it") {
  MoveFamily chain = family("chain");
  chain.moves = chain.depth = chain.group;
  const MoveLandscape landscape(chain, MovePrior::uniform, 1);
  Made made = 0;
  for (int step = 0; step < chain.depth; ++step) {
    int gaining = 0;
    Made next = made;
    for (int move = 0; move < chain.moves; ++move) {
      const Made to = MoveLandscape::apply(made, move);
      if (!landscape.legal(made, move) || landscape.gain(to) <= landscape.gain(made)) continue;
      ++gaining;
      next = to;
    }
    CHECK(gaining == 1);
    made = next;
  }
  CHECK(made == landscape.optimum());
}

TEST_CASE("a move that was made stays made, or undoes itself where the family is reversible") {
  for (const bool reversible : {false, true}) {
    MoveFamily known = family("pairs");
    known.reversible = reversible;
    const MoveLandscape landscape(known, MovePrior::uniform, 1);
    const Made made = MoveLandscape::apply(0, 3);
    CHECK(landscape.legal(0, 3));
    CHECK(landscape.legal(made, 3) == reversible);
    CHECK(MoveLandscape::apply(made, 3) == 0);
  }
}

TEST_CASE("as many variants fail as the family says, and never the root or the optimum") {
  MoveFamily known = small(family("pairs_failing"));
  const MoveLandscape landscape(known, MovePrior::uniform, 1);
  double failed = 0;
  for (Made made = 0; made < 4096; ++made) failed += landscape.status(made) == Status::ok ? 0 : 1;
  CHECK(failed / 4096 == doctest::Approx(known.failure).epsilon(0.05));
  CHECK(landscape.status(0) == Status::ok);
  CHECK(landscape.status(landscape.optimum()) == Status::ok);
}

TEST_CASE("an informative prior prefers moves towards the optimum, a misleading one the others") {
  for (const MoveFamily& known : move_families()) {
    for (const MovePrior prior :
         {MovePrior::informative, MovePrior::uniform, MovePrior::misleading}) {
      CAPTURE(known.name);
      double preferred = 0, pairs = 0;
      for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const MoveLandscape landscape(known, prior, seed);
        std::vector<float> p;
        landscape.priors(0, p);
        CHECK(std::accumulate(p.begin(), p.end(), 0.0) == doctest::Approx(1));
        for (std::size_t i = 0; i < p.size(); ++i) {
          for (std::size_t j = 0; j < p.size(); ++j) {
            if ((landscape.optimum() >> i & 1U) == 0 || (landscape.optimum() >> j & 1U) != 0)
              continue;
            preferred += p[i] > p[j] ? 1 : p[i] == p[j] ? 0.5 : 0;
            ++pairs;
          }
        }
      }
      const double share = preferred / pairs;
      if (prior == MovePrior::uniform) CHECK(share == 0.5);
      if (prior == MovePrior::informative) CHECK(share > 0.6);
      if (prior == MovePrior::misleading) CHECK(share < 0.4);
    }
  }
}

TEST_CASE("a move that is not legal has no prior") {
  const MoveLandscape landscape(family("pairs"), MovePrior::informative, 1);
  std::vector<float> p;
  landscape.priors(Made{1} << 5, p);
  CHECK(p[5] == 0);
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == doctest::Approx(1));
}

TEST_CASE("the same arguments give the same landscape, another seed another one") {
  const MoveLandscape a(family("rugged"), MovePrior::informative, 1);
  const MoveLandscape same(family("rugged"), MovePrior::informative, 1);
  const MoveLandscape other(family("rugged"), MovePrior::informative, 2);
  CHECK(a.optimum() == same.optimum());
  CHECK(a.gain(77) == same.gain(77));
  CHECK(a.gain(77) != other.gain(77));
  CHECK_THROWS_AS(static_cast<void>(move_family("flat", "test")), Error);
  CHECK_THROWS_AS(static_cast<void>(move_prior("wise", "test")), Error);
}

TEST_SUITE_END();
