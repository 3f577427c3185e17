#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>

#include "runners/host/execute/worker.h"
#include "tests/support/triton_interpreter.h"

/// The test program is also the worker process of the runners it tests. A suite that needs Triton's
/// interpreter is skipped (exit status 77) where there is none.
int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "worker") == 0 && std::strcmp(argv[2], "host") == 0) {
    return warpath::host::worker_main();
  }
  if (argc > 1 && std::strcmp(argv[1], "--test-suite=triton_arithmetic") == 0) {
    const std::string why = warpath::test::TritonInterpreter::problem();
    if (!why.empty()) {
      std::printf("skipped: no Python with Triton and numpy: %s\n", why.c_str());
      return 77;
    }
  }
  doctest::Context context(argc, argv);
  return context.run();
}
