#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstring>

#include "runners/host/execute/worker.h"

/// The test program is also the worker process of the runners it tests.
int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "worker") == 0 && std::strcmp(argv[2], "host") == 0) {
    return warpath::host::worker_main();
  }
  doctest::Context context(argc, argv);
  return context.run();
}
