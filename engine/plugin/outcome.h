#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/diagnosis.h"
#include "engine/spec/launch.h"

namespace warpath {

/// Result of a variant. Only `ok` has a time. `not_measured` is no judgement of the variant: the
/// device was too busy to be timed reliably.
enum class Status : std::uint8_t {
  ok,
  not_applicable,
  compile_error,
  launch_error,
  limits_exceeded,
  wrong_result,
  rejected,
  timed_out,
  crashed,
  not_measured,
};
inline constexpr std::array<std::string_view, 10> kStatusNames{
    "ok",           "not_applicable", "compile_error", "launch_error", "limits_exceeded",
    "wrong_result", "rejected",       "timed_out",     "crashed",      "not_measured"};
/// True if a variant with this status is itself at fault.
[[nodiscard]] constexpr bool is_refusal(Status status) {
  return status != Status::ok && status != Status::not_measured;
}
[[nodiscard]] constexpr std::string_view name(Status status) {
  return kStatusNames[static_cast<std::size_t>(status)];
}

/// Result of one gate. A verdict lists every gate of the runner, in order.
struct GateResult {
  enum class Answer : std::uint8_t { pass, fail, not_run };
  std::string gate;
  Answer answer = Answer::not_run;
  std::string detail;  ///< the quantity it was judged by, or why it did not run
  double seconds = 0;  ///< wall time of a gate that launches, to 1 ms
  bool operator==(const GateResult&) const = default;
};

struct Verdict {
  std::vector<GateResult> gates;
  [[nodiscard]] bool passed() const;  ///< at least one pass, no fail
  /// "pass 7/9 (racecheck not run: ...)" or the first failing gate with its detail. Gates that were
  /// not run for the same reason are one phrase, more than three of them a number.
  [[nodiscard]] std::string summary() const;
  bool operator==(const Verdict&) const = default;
};

/// All samples of one workload in one cache state, in the order taken. Summaries are derived
/// (engine/base/statistics.h), never stored alone.
struct WorkloadTiming {
  std::string workload;
  std::vector<double> samples_ns;  ///< one launch each (or batch time / launches)
  LaunchNumbers launch;
  std::string cache;  ///< "hot" or "cold" L2; "cpu" on the host runner
  /// Launches of the baseline, or of RunRequest::against, taken alternately with `samples_ns` in
  /// the same evaluation. Speed-ups are relative to them, so that a machine that changes speed
  /// affects both sides. Empty: not taken, the baseline's own evaluation is used.
  std::vector<double> baseline_samples_ns{};
  bool operator==(const WorkloadTiming&) const = default;
};

/// Result of evaluating one variant. Never an exception.
struct Outcome {
  Status status = Status::crashed;
  /// status ok: at least one per workload of role score or guard; a workload's first counts
  std::vector<WorkloadTiming> timings;
  Verdict verdict;
  /// filtered: compiler diagnostics or the reason, at most 4 KiB
  std::string log;
  std::optional<Diagnosis> diagnosis;
  double compile_seconds = 0;
  double run_seconds = 0;
  /// level-1 identity (hash of machine code + launch numbers); empty if unknown
  std::string binary_key;
  bool operator==(const Outcome&) const = default;
};

}  // namespace warpath
