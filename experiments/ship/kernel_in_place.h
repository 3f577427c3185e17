#pragma once

#include <string>

#include "experiments/ship/project_file.h"
#include "experiments/ship/shipment.h"

namespace warpath {

/// The text of the project's target file with the best kernel, from its text `before`: changed by
/// the project's patch or, without one, as the search changed the spec's source; of a kernel in
/// Triton, its function where that is all that changed. Without a patch the application launches
/// the new kernel as it launched the old one, unguarded: the launch, the tunables and the
/// compiler's options must then be the original's, and the contract that of the spec unless the
/// project accepts it. Throws Error(bad_input) if they are not, or if the change does not apply.
[[nodiscard]] std::string with_best_kernel(const Project& project,
                                           const Shipment& shipment,
                                           const std::string& before);

}  // namespace warpath
