#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/spec/expression.h"

namespace warpath {

/// Grid, block and cluster in x, y, z order, and dynamic shared memory, as expressions over the
/// scalar arguments and the tunables, so that a move can rewrite them together with the source.
struct LaunchPlan {
  std::array<Expression, 3> grid{Expression(1), Expression(1), Expression(1)};
  std::array<Expression, 3> block{Expression(1), Expression(1), Expression(1)};
  std::array<Expression, 3> cluster{Expression(1), Expression(1), Expression(1)};
  Expression dynamic_smem_bytes{0};
  bool operator==(const LaunchPlan&) const = default;
};

/// A plan evaluated for one workload. threads_per_block = product of `block`.
struct LaunchNumbers {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::int64_t, 3> cluster{1, 1, 1};
  std::int64_t dynamic_smem_bytes = 0;
  bool operator==(const LaunchNumbers&) const = default;
};

/// Throws Error(bad_input) if an expression cannot be evaluated; does not check ranges.
[[nodiscard]] LaunchNumbers evaluate(const LaunchPlan& plan,
                                     const Bindings& bindings,
                                     std::string_view place);
/// One line naming the number that exceeds CUDA's limits for any device (grid.x <= 2^31-1, grid.y/z
/// <= 65535, block product <= 1024 and z <= 64, all >= 1); empty if none does.
[[nodiscard]] std::string launch_problem(const LaunchNumbers& numbers);

}  // namespace warpath
