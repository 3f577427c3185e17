#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runners/replay/recording.h"

namespace warpath {

/// A landscape of moves (runners/synthetic/move_landscape.h) in place of recorded variants, which
/// are computed when a walk comes to them: its rows are the root and the optimum. `name`:
/// "FAMILY-PRIOR-SEED". Its own P(s,a) take the place of Recording::Steps::prior. Throws
/// Error(bad_input) with `place`.
[[nodiscard]] std::shared_ptr<const Recording> landscape_recording(const std::string& name,
                                                                   std::string_view place);

}  // namespace warpath
