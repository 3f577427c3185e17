#include "runners/cuda/finalists/sanitizer.h"

#include <doctest/doctest.h>

using warpath::cuda::read_sanitizer_log;

TEST_SUITE("sanitizer") {
  TEST_CASE("a clean log has a summary of no errors") {
    const auto log =
        read_sanitizer_log("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
    CHECK(log.errors == 0);
    CHECK(log.first.empty());
  }

  TEST_CASE("errors are counted and the first is quoted") {
    const auto log = read_sanitizer_log(
        "========= COMPUTE-SANITIZER\n"
        "========= Invalid __global__ read of size 4 bytes\n"
        "=========     at copy+0x40\n"
        "========= ERROR SUMMARY: 12 errors\n");
    CHECK(log.errors == 12);
    CHECK(log.first == "Invalid __global__ read of size 4 bytes");
  }

  TEST_CASE("races are counted by the summary of their own tool") {
    const auto log = read_sanitizer_log(
        "========= COMPUTE-SANITIZER\n"
        "========= Error: Race reported between Write access and Read access\n"
        "========= RACECHECK SUMMARY: 3 hazards displayed (3 errors, 0 warnings)\n");
    CHECK(log.errors == 3);
  }

  TEST_CASE("a log without a summary checked nothing") {
    CHECK(read_sanitizer_log("").errors == -1);
    CHECK(read_sanitizer_log("========= COMPUTE-SANITIZER\n").errors == -1);
  }
}
