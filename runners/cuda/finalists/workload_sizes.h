#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "engine/spec/spec.h"

namespace warpath::cuda {

/// `workload` with other values of some integer arguments.
[[nodiscard]] Workload with_sizes(const Workload& workload,
                                  const std::map<std::string, std::int64_t>& sizes);
/// True if `spec` with `workload` alone is valid: engine/spec/spec_check.h and the constraints of
/// its own kernel.
[[nodiscard]] bool is_valid_alone(const KernelSpec& spec, const Workload& workload);

}  // namespace warpath::cuda
