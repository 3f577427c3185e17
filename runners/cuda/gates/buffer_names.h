#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/plan/gate.h"

namespace warpath::cuda {

/// The argument or scratch buffer that each parameter of a launched kernel receives.
using BufferNames = std::vector<std::string>;
/// Of the candidate's main launch: the spec's arguments, then its scratch buffers.
[[nodiscard]] BufferNames main_buffer_names(const GateSubject& subject);
/// Of the launch of `entry`, a kernel of the candidate's code or of one of its steps.
[[nodiscard]] BufferNames buffer_names(const GateSubject& subject, std::string_view entry);

}  // namespace warpath::cuda
