#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string_view>

#include "runners/host/execute/worker.h"
#include "tests/experiments/propose/faulty_moves.h"
#include "tests/experiments/ship/exported.h"

/// `test_experiments worker moves` is a move worker that knows moves which crash, `worker host`
/// that of the host runner. Suite export_nvcc is skipped (exit code 77) without nvcc.
int main(int count, char** words) {
  const bool worker = count > 2 && std::string_view(words[1]) == "worker";
  if (worker && std::string_view(words[2]) == "moves")
    return warpath::testing::faulty_worker_main();
  if (worker && std::string_view(words[2]) == "host") return warpath::host::worker_main();
  if (count > 1 && std::string_view(words[1]) == "--test-suite=export_nvcc" &&
      warpath::testing::nvcc().empty()) {
    std::puts("skipped: no nvcc here");
    return 77;
  }
  return doctest::Context(count, words).run();
}
