#pragma once

#include <optional>
#include <string_view>

#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"

namespace warpath::cuda {

/// The states of the level-2 cache that a workload is timed in.
struct CachePlan {
  bool hot = true;
  bool cold = false;
  bool cold_scored = false;  ///< which of them counts; the other is reported as well
  bool operator==(const CachePlan&) const = default;
};

/// The workload's declaration or, without one, the option `cuda.l2` (hot, cold or both). Finalists
/// are timed in both, whichever counts.
[[nodiscard]] CachePlan cache_plan(std::optional<L2Timing> declared,
                                   std::string_view option,
                                   Stage stage);

}  // namespace warpath::cuda
