#include "engine/spec/launch.h"

#include <string>

namespace warpath {
namespace {

constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};
constexpr std::array<std::int64_t, 3> kMaxGrid{2147483647, 65535, 65535};
constexpr std::array<std::int64_t, 3> kMaxBlock{1024, 1024, 64};
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxClusterBlocks = 16;   // 8 is portable, 16 by opt-in
constexpr std::int64_t kMaxSmemBytes = 1 << 20;  // above any device's shared memory

std::string out_of_range(std::string_view what,
                         std::string_view axis,
                         std::int64_t value,
                         std::int64_t high) {
  return std::string(what) + "." + std::string(axis) + " = " + std::to_string(value) +
         " is outside 1 to " + std::to_string(high);
}

}  // namespace

LaunchNumbers evaluate(const LaunchPlan& plan, const Bindings& bindings, std::string_view place) {
  LaunchNumbers numbers;
  const auto value = [&](const Expression& expression, std::string_view what, std::size_t axis) {
    // most are, and cannot fail
    if (expression.is_constant()) return expression.evaluate(bindings, "");
    return expression.evaluate(
        bindings, std::string(place) + "/" + std::string(what) + "/" + std::string(kAxes[axis]));
  };
  for (std::size_t axis = 0; axis < 3; ++axis) {
    numbers.grid[axis] = value(plan.grid[axis], "grid", axis);
    numbers.block[axis] = value(plan.block[axis], "block", axis);
    numbers.cluster[axis] = value(plan.cluster[axis], "cluster", axis);
  }
  numbers.dynamic_smem_bytes =
      plan.dynamic_smem_bytes.evaluate(bindings, std::string(place) + "/dynamic_smem_bytes");
  return numbers;
}

std::string launch_problem(const LaunchNumbers& numbers) {
  std::int64_t threads = 1, cluster_blocks = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (numbers.grid[axis] < 1 || numbers.grid[axis] > kMaxGrid[axis]) {
      return out_of_range("grid", kAxes[axis], numbers.grid[axis], kMaxGrid[axis]);
    }
    if (numbers.block[axis] < 1 || numbers.block[axis] > kMaxBlock[axis]) {
      return out_of_range("block", kAxes[axis], numbers.block[axis], kMaxBlock[axis]);
    }
    if (numbers.cluster[axis] < 1 || numbers.cluster[axis] > kMaxClusterBlocks) {
      return out_of_range("cluster", kAxes[axis], numbers.cluster[axis], kMaxClusterBlocks);
    }
    threads *= numbers.block[axis];
    cluster_blocks *= numbers.cluster[axis];
    if (numbers.grid[axis] % numbers.cluster[axis] != 0) {
      return "grid." + std::string(kAxes[axis]) + " = " + std::to_string(numbers.grid[axis]) +
             " is not a multiple of cluster." + std::string(kAxes[axis]) + " = " +
             std::to_string(numbers.cluster[axis]);
    }
  }
  if (threads > kMaxThreads) {
    return "threads per block = " + std::to_string(threads) + " is above " +
           std::to_string(kMaxThreads);
  }
  if (cluster_blocks > kMaxClusterBlocks) {
    return "blocks per cluster = " + std::to_string(cluster_blocks) + " is above " +
           std::to_string(kMaxClusterBlocks);
  }
  if (numbers.dynamic_smem_bytes < 0 || numbers.dynamic_smem_bytes > kMaxSmemBytes) {
    return "dynamic_smem_bytes = " + std::to_string(numbers.dynamic_smem_bytes) +
           " is outside 0 to " + std::to_string(kMaxSmemBytes);
  }
  return {};
}

}  // namespace warpath
