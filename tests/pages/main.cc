#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <string_view>

#include "tests/support/browser.h"

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--test-suite=browser") continue;
    if (!warpath::test::Browser::program().empty()) continue;
    std::puts("skipped: there is no Chromium here (Debian: chromium)");
    return kSkipped;
  }
  return doctest::Context(argc, argv).run();
}
