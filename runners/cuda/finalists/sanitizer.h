#pragma once

#include <string>

#include "engine/plugin/outcome.h"
#include "runners/cuda/finalists/finalist.h"

namespace warpath::cuda {

/// Result of a compute-sanitizer log: the number of errors or hazards, and the first one's line.
/// -1: the log has no summary, so nothing was checked.
struct SanitizerLog {
  int errors = -1;
  std::string first;
};
[[nodiscard]] SanitizerLog read_sanitizer_log(const std::string& text);

/// Gate D18: the verified launches of a finalist under compute-sanitizer's memcheck, racecheck and
/// synccheck, in parallel, each in a device worker of its own. Uses a small workload
/// (small_workload.h) on which both the spec's kernel and the variant are correct without a tool;
/// failing that, the spec's own if launches are short. An invalid access on an undeclared workload
/// counts only if it also occurs on the declared one. Takes some seconds; never throws for a bad
/// candidate.
[[nodiscard]] GateResult sanitize(const FinalistSetup& setup);

}  // namespace warpath::cuda
