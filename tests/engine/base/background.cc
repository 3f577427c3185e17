#include "engine/base/background.h"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

using namespace warpath;

TEST_SUITE_BEGIN("background");

TEST_CASE("steps are done in order, and all are done after finish") {
  std::vector<int> done, expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  Background background;
  for (int i = 0; i < 1000; ++i) background.add([&done, i] { done.push_back(i); });
  background.finish();
  CHECK(done == expected);
}

TEST_CASE("what was added is done when the object ends") {
  int done = 0;
  {
    Background background;
    for (int i = 0; i < 100; ++i) background.add([&done] { ++done; });
  }
  CHECK(done == 100);
}

TEST_CASE("what a step throws arrives once, and the work goes on") {
  Background background;
  background.add([] { throw std::runtime_error("disk full"); });
  CHECK_THROWS_WITH(background.finish(), "disk full");
  int done = 0;
  background.add([&done] { ++done; });
  background.finish();
  CHECK(done == 1);
}

TEST_SUITE_END();
