#pragma once

#include <filesystem>

#include "experiments/capture/captured_kernel.h"
#include "experiments/init/spec_draft.h"

namespace warpath {

/// A draft whose sizes are those of captured launches: one workload a shape, weighted by how often
/// it was launched, as many as make up `share` of the kernel's device time and at most 32. Where
/// the grid that the text implies is not the captured one, the workload states it. What a launch
/// shows is no guess. `file`: of the launches, beside which contents of tensors lie. Throws
/// Error(bad_input) if they are not of this kernel.
[[nodiscard]] SpecDraft draft_captured(const model::Unit& unit,
                                       const model::Function& kernel,
                                       DraftOptions options,
                                       const CapturedKernel& captured,
                                       const std::filesystem::path& file,
                                       double share);

}  // namespace warpath
