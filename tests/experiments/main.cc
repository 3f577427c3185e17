#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <string_view>

#include "runners/host/execute/worker.h"
#include "tests/experiments/faulty_moves.h"

/// `test_experiments worker moves` is a move worker that knows moves which crash, `worker host`
/// that of the host runner.
int main(int count, char** words) {
  const bool worker = count > 2 && std::string_view(words[1]) == "worker";
  if (worker && std::string_view(words[2]) == "moves")
    return warpath::testing::faulty_worker_main();
  if (worker && std::string_view(words[2]) == "host") return warpath::host::worker_main();
  return doctest::Context(count, words).run();
}
