#include "runners/cuda/driver/occupancy.h"

#include <doctest/doctest.h>

#include "tests/cuda/driver/device_limits.h"

using cuda_test::kSm80;
using cuda_test::kSm86;
using cuda_test::kSm90;
using warpath::LaunchNumbers;
using warpath::cuda::BlockNeeds;
using warpath::cuda::DeviceLimits;

TEST_SUITE_BEGIN("occupancy");

TEST_CASE("occupancy equals the vendor's calculator") {
  struct Known {
    const DeviceLimits& device;
    BlockNeeds block;
    int blocks;
    std::string_view limit;
  };
  const Known known[] = {
      {kSm80, {.threads = 256, .registers_per_thread = 32}, 8, "threads"},
      {kSm80, {.threads = 256, .registers_per_thread = 33}, 6, "registers"},
      {kSm80, {.threads = 256, .registers_per_thread = 128}, 2, "registers"},
      {kSm80, {.threads = 32, .registers_per_thread = 32}, 32, "blocks"},
      {kSm80, {.threads = 1024, .registers_per_thread = 65}, 0, "registers"},
      {kSm80,
       {.threads = 128, .registers_per_thread = 32, .static_smem_bytes = 49152},
       3,
       "shared memory"},
      {kSm86, {.threads = 256, .registers_per_thread = 32}, 6, "threads"},
      {kSm86, {.threads = 1024, .registers_per_thread = 32}, 1, "threads"},
      {kSm86, {.threads = 64, .registers_per_thread = 32}, 16, "blocks"},
      {kSm86,
       {.threads = 128, .registers_per_thread = 32, .dynamic_smem_bytes = 101376},
       1,
       "shared memory"},
      {kSm90, {.threads = 384, .registers_per_thread = 168}, 1, "registers"},
      {kSm90,
       {.threads = 128,
        .registers_per_thread = 64,
        .static_smem_bytes = 1024,
        .dynamic_smem_bytes = 65536},
       3,
       "shared memory"},
      {kSm90, {.threads = 100, .registers_per_thread = 16}, 16, "threads"},
      {kSm90, {.threads = 256, .registers_per_thread = 40}, 6, "registers"},
  };
  for (const Known& row : known) {
    CAPTURE(row.device.compute_major * 10 + row.device.compute_minor);
    CAPTURE(row.block.threads);
    CAPTURE(row.block.registers_per_thread);
    const auto result = occupancy(row.device, row.block, 1);
    CHECK(result.blocks_per_sm == row.blocks);
    CHECK(result.limit == row.limit);
  }
}

TEST_CASE("waves count the blocks that run at once") {
  const BlockNeeds block{.threads = 256, .registers_per_thread = 32};
  const auto one_and_a_half = occupancy(kSm90, block, 132 * 8 * 3 / 2);
  CHECK(one_and_a_half.waves == doctest::Approx(1.5));
  CHECK(one_and_a_half.tail_fraction == doctest::Approx(0.5));
  CHECK(one_and_a_half.fraction == doctest::Approx(1));
  CHECK(occupancy(kSm90, block, 132 * 8 * 4).tail_fraction == doctest::Approx(1));
  CHECK(occupancy(kSm80, {.threads = 1024, .registers_per_thread = 65}, 10).waves == 0);
}

TEST_CASE("a launch beyond the device is refused with the number and the limit") {
  const auto problem = [](const DeviceLimits& device, BlockNeeds block, LaunchNumbers launch) {
    return limits_problem(device, block, launch);
  };
  CHECK(problem(kSm90, {.registers_per_thread = 32}, {.block = {256, 1, 1}}).empty());
  CHECK(problem(kSm90, {.static_smem_bytes = 256}, {.dynamic_smem_bytes = 232448}) ==
        "shared memory a block 232704 exceeds this device's 232448");
  CHECK(problem(kSm86, {}, {.dynamic_smem_bytes = 102400}).find("shared memory") !=
        std::string::npos);
  CHECK(problem(kSm90, {.registers_per_thread = 72}, {.block = {1024, 1, 1}})
            .find("registers a block") != std::string::npos);
  CHECK(problem(kSm80, {}, {.grid = {8, 1, 1}, .cluster = {2, 1, 1}})
            .find("compute capability 9.0") != std::string::npos);
  CHECK_FALSE(problem(kSm90, {}, {.block = {2048, 1, 1}}).empty());
}

TEST_SUITE_END();
