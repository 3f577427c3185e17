#pragma once

#include <string>

#include "engine/options.h"
#include "engine/outcome.h"
#include "runners/cuda/messages.h"

namespace warpath::cuda {

/// What a log of compute-sanitizer says: errors or hazards counted, and the first one's line. -1: the
/// log has no summary, so nothing was checked.
struct SanitizerLog {
  int errors = -1;
  std::string first;
};
[[nodiscard]] SanitizerLog read_sanitizer_log(const std::string& text);

/// Gate D18: the candidate's verified launches under compute-sanitizer's memcheck, racecheck and
/// synccheck, each in a device worker of its own. Takes seconds; `gpu`: index of a local device.
[[nodiscard]] GateResult sanitize(const std::string& program, int gpu, const Options& options,
                                  const DeviceTools& tools, const PrepareProblem& problem,
                                  const Candidate& candidate);

}  // namespace warpath::cuda
