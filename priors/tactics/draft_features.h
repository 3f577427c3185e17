#pragma once

#include "engine/plugin/device_facts.h"
#include "engine/plugin/diagnosis.h"
#include "priors/tactics/proposal_features.h"

namespace warpath {

/// What compiling a variant changed: for each fact that is known without a launch (registers,
/// instructions, bytes, blocks, ...) the change of its logarithm from the variant that it was made
/// of, and the same of the threads that the device holds at once. Facts that one of the two lacks
/// count as 0 there; those measured on either side are left out.
[[nodiscard]] Features draft_features(const DeviceFacts& device,
                                      const Diagnosis& before,
                                      const Diagnosis& after);

}  // namespace warpath
