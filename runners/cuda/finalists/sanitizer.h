#pragma once

#include <string>

#include "engine/plugin/outcome.h"
#include "runners/cuda/finalists/finalist.h"

namespace warpath::cuda {

/// What a log of compute-sanitizer says: errors or hazards counted, and the first one's line. -1:
/// the log has no summary, so nothing was checked.
struct SanitizerLog {
  int errors = -1;
  std::string first;
};
[[nodiscard]] SanitizerLog read_sanitizer_log(const std::string& text);

/// Gate D18: the verified launches of a finalist under compute-sanitizer's memcheck, racecheck and
/// synccheck, side by side, each in a device worker of its own. On a small workload
/// (small_workload.h) where there is one on which both the spec's kernel and the variant prove
/// right without a tool; else on the spec's own, if launches are short. An invalid access on a
/// workload that the spec does not declare counts where the declared one shows it too. Takes some
/// seconds; never throws for a bad candidate.
[[nodiscard]] GateResult sanitize(const FinalistSetup& setup);

}  // namespace warpath::cuda
