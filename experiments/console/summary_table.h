#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"

namespace warpath {

/// The result of one spec of a batch.
struct KernelReport {
  std::string name;
  std::optional<SessionResult> result;              ///< absent: the session failed
  std::string problem;                              ///< the reason then, in one line
  ErrorCode problem_code = ErrorCode::environment;  ///< likewise
};

/// "refused by distributions: ..." or "not measured: ..."
[[nodiscard]] std::string dismissal_text(const Dismissal& one);

/// Name, baseline, best, speed-up, builds, rejected by status, verdict: one aligned line per kernel
/// under a heading with the kind of timings.
[[nodiscard]] std::string summary_table(const std::vector<KernelReport>& reports,
                                        const std::string& runner_text);

/// Exit code of a batch: 3 if any kernel was interrupted or failed for infrastructure reasons
/// (including its baseline), otherwise 64 if any was rejected, otherwise 0 if any improved,
/// otherwise 2.
[[nodiscard]] int exit_code(const std::vector<KernelReport>& reports);

}  // namespace warpath
