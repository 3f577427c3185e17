#include "runners/cuda/measure/pace.h"

#include <doctest/doctest.h>

using warpath::cuda::Pace;

TEST_SUITE_BEGIN("pace");

TEST_CASE("nothing is held back before a candidate has been measured") {
  Pace pace;
  pace.built(0.3);
  CHECK(pace.useful(1, 25) == 25);
}

TEST_CASE("slow candidates are chosen a few at a time, fast ones as many as compilers can feed") {
  Pace slow;
  slow.built(0.3);
  slow.measured(3);
  CHECK(slow.useful(1, 25) == 3);
  CHECK(slow.useful(2, 25) == 5);
  Pace fast;
  fast.built(0.3);
  fast.measured(0.005);
  CHECK(fast.useful(1, 25) == 25);
}

TEST_CASE("what happened lately counts more") {
  Pace pace;
  pace.built(0.2);
  pace.measured(2);
  for (int i = 0; i < 20; ++i) pace.measured(0.01);
  CHECK(pace.useful(1, 100) > 10);
}

TEST_SUITE_END();
