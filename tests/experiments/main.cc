#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string_view>

#include "tests/experiments/faulty_moves.h"

/// `test_experiments worker moves` is a move worker that knows moves which crash.
int main(int count, char** words) {
  if (count > 2 && std::string_view(words[1]) == "worker" && std::string_view(words[2]) == "moves")
    return warpath::testing::faulty_worker_main();
  return doctest::Context(count, words).run();
}
