#pragma once

#include <filesystem>

#include "engine/plugin/device_facts.h"
#include "engine/spec/spec.h"

namespace warpath {

/// Writes portfolio.json and portfolio/*.cu of the run in `folder`: the few kernels that serve the
/// sizes of its spec best, of all that the run measured (engine/run/portfolio.h). Removes them
/// where the spec, whose run was on `device`, has only one size, or nothing was measured.
void ship_portfolio(const std::filesystem::path& folder,
                    const KernelSpec& spec,
                    const DeviceFacts& device);

}  // namespace warpath
