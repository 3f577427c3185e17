#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/run/session.h"

namespace warpath {

/// What became of one spec of a batch.
struct KernelReport {
  std::string name;
  std::optional<SessionResult> result;              ///< none: the session failed
  std::string problem;                              ///< then: the one-line reason
  ErrorCode problem_code = ErrorCode::environment;  ///< then
};

/// "refused by distributions: ..." or "not measured: ..."
[[nodiscard]] std::string dismissal_text(const Dismissal& one);

/// Name, baseline, best, speed-up, builds, rejected by status, verdict: one line a kernel, aligned,
/// under a heading that says what kind of timings these are.
[[nodiscard]] std::string summary_table(const std::vector<KernelReport>& reports,
                                        const std::string& runner_text);

/// Exit code of a batch: 3 if any kernel was interrupted or failed for infrastructure (its baseline
/// included), else 64 if any was refused, else 0 if any improved, else 2.
[[nodiscard]] int exit_code(const std::vector<KernelReport>& reports);

}  // namespace warpath
