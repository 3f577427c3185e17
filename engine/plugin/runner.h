#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// How thoroughly an evaluation is judged; each stage adds to the one before. A runner with one
/// protocol treats them alike.
enum class Stage : std::uint8_t {
  screening,  ///< every candidate
  /// a candidate that may become the best: interleaved with the incumbent, fresh inputs, more gates
  confirmation,
  final,  ///< the few that are reported: everything, on inputs that no search has seen
};
inline constexpr std::array<std::string_view, 3> kStageNames{"screening", "confirmation", "final"};
[[nodiscard]] constexpr std::string_view name(Stage stage) {
  return kStageNames[static_cast<std::size_t>(stage)];
}

/// One evaluation. References outlive the call.
struct RunRequest {
  const KernelSpec& spec;
  const Variant& variant;
  Hash128 key;  ///< of the variant
  /// of this evaluation's inputs: hash(root seed, "inputs", dispatch index)
  std::uint64_t seed = 0;
  double incumbent_ns = 0;  ///< objective time of the best so far, for racing; 0 = do not race
  Stage stage = Stage::screening;
  /// objective time of this variant as the search saw it; 0: not known. What differs from it is
  /// timed once more
  double searched_ns = 0;
  /// What the candidate is timed in turn with, known to be right; its samples are then
  /// WorkloadTiming::baseline_samples_ns. Null: the baseline. Ignored by a runner that times
  /// nothing in turn, and at screening by one that takes no pairs there.
  const Variant* against = nullptr;
};

/// Executes variants. `run` never throws for a bad candidate: the outcome carries the status.
/// Behaviour is added by wrapping (cache, record, replay, compare, demux over devices).
class Runner {
 public:
  virtual ~Runner() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual DeviceFacts device() const = 0;
  /// What times depend on beside the device's kind (devices by identity, drivers), as text, once
  /// `prepare` has returned; may be empty.
  [[nodiscard]] virtual std::string platform() const { return ""; }
  /// How many `run` calls may be under way at once.
  [[nodiscard]] virtual int lanes() const { return 1; }
  /// How many of them keep the runner busy, by what evaluations take now; at most `lanes()`. Any
  /// thread.
  [[nodiscard]] virtual int useful_lanes() const { return lanes(); }
  /// The spec to search instead of `spec` (synthetic and replayed spaces); nullopt = `spec` itself.
  [[nodiscard]] virtual std::optional<KernelSpec> substitute(const KernelSpec&) const {
    return std::nullopt;
  }
  /// True if it is known without an evaluation that `variant` cannot be evaluated here: nothing is
  /// spent on it. Any thread.
  [[nodiscard]] virtual bool refuses(const Variant&) const { return false; }
  /// True if no move but those of tunables can change what is evaluated (recorded spaces).
  [[nodiscard]] virtual bool only_tunables() const { return false; }
  /// Readies what all evaluations of `spec` share (reference outputs, compiled oracle). Called once
  /// before `run`, from one thread. Throws Error when the spec cannot run here: no runner may fail
  /// late for what it can know now.
  virtual void prepare(const KernelSpec& spec) = 0;
  /// Thread-safe up to `lanes()` calls. Abandons soon after `stop` is requested (any outcome; it is
  /// discarded).
  [[nodiscard]] virtual Outcome run(const RunRequest& request, std::stop_token stop) = 0;
  /// What the runner says of its own work so far, by name ("lane_busy": share of the time that the
  /// measuring lanes measured). Any thread.
  [[nodiscard]] virtual std::map<std::string, double> figures() const { return {}; }
};
using RunnerRegistry = Registry<Runner, const struct RunnerConfig&>;

/// Everything a runner may be configured by. `argument` is what follows the colon in `--runner
/// NAME:ARGUMENT`.
struct RunnerConfig {
  std::string argument;
  std::uint64_t seed = 1;
  const struct Options* options = nullptr;  ///< never null when the program calls
  std::string program;                      ///< path of this executable, for worker processes
};

/// Workloads of `spec` that a runner on this device uses: those of its own target, else those of
/// target `any`.
[[nodiscard]] std::vector<const Workload*> workloads_for(const KernelSpec& spec,
                                                         const DeviceFacts& device);

}  // namespace warpath
