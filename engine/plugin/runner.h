#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/registry.h"
#include "engine/plugin/device_facts.h"
#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// How thoroughly an evaluation is judged; each stage includes the one before. A runner with a
/// single protocol treats them alike.
enum class Stage : std::uint8_t {
  screening,  ///< every candidate
  /// a candidate for the best: interleaved with the incumbent, fresh inputs, more gates
  confirmation,
  final,  ///< the few that are reported: all gates, on inputs unused by the search
};
inline constexpr std::array<std::string_view, 3> kStageNames{"screening", "confirmation", "final"};
[[nodiscard]] constexpr std::string_view name(Stage stage) {
  return kStageNames[static_cast<std::size_t>(stage)];
}

struct Options;  // engine/plugin/options.h

/// One evaluation. Referenced objects must outlive the call.
struct RunRequest {
  const KernelSpec& spec;
  const Variant& variant;
  Hash128 key;  ///< of the variant
  /// of this evaluation's inputs: hash(root seed, "inputs", dispatch index)
  std::uint64_t seed = 0;
  double incumbent_ns = 0;  ///< objective time of the best so far, for racing; 0 = do not race
  Stage stage = Stage::screening;
  /// objective time of this variant as measured by the search; 0: unknown. A result that differs
  /// from it is timed again
  double searched_ns = 0;
  /// The variant, known to be correct, that the candidate is timed alternately with;
  /// WorkloadTiming::baseline_samples_ns are then its samples. Null: the baseline. Ignored by
  /// runners that do not alternate, and at screening by those that take no pairs there.
  const Variant* against = nullptr;
  /// Stage::final: wall time that is left for it, in seconds. A runner leaves out what it cannot do
  /// in that time and is not needed for a result, and says so in the verdict
  double seconds_left = INFINITY;
  /// Once requested, an evaluation that still waits to be measured is not wanted any more: it may
  /// return not_measured. One that is being measured goes on.
  std::stop_token withdrawn = {};
};
/// True if `outcome` only says that the evaluation was not wanted any more.
[[nodiscard]] inline bool was_withdrawn(const RunRequest& request, const Outcome& outcome) {
  return outcome.status == Status::not_measured && request.withdrawn.stop_requested();
}

/// Evaluates variants. `run` never throws for a bad candidate: the outcome carries the status.
/// Behaviour is added by wrapping (cache, record, replay, compare, demux over devices).
class Runner {
 public:
  virtual ~Runner() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual DeviceFacts device() const = 0;
  /// What times depend on besides the kind of device (device identities, drivers), as text, valid
  /// after `prepare`; may be empty.
  [[nodiscard]] virtual std::string platform() const { return ""; }
  /// As `platform`, without what tells machines of one kind apart: where it and `device` agree,
  /// times can be compared.
  [[nodiscard]] virtual std::string platform_kind() const { return ""; }
  /// Maximum number of concurrent `run` calls.
  [[nodiscard]] virtual int lanes() const { return 1; }
  /// Number of concurrent calls that keeps the runner busy at the current cost of evaluations; at
  /// most `lanes()`. Thread-safe.
  [[nodiscard]] virtual int useful_lanes() const { return lanes(); }
  /// The spec to search instead of `spec` (synthetic and replayed spaces); nullopt = `spec` itself.
  [[nodiscard]] virtual std::optional<KernelSpec> substitute(const KernelSpec&) const {
    return std::nullopt;
  }
  /// True if `variant` is known, without an evaluation, not to be evaluable here; it then costs
  /// nothing. Thread-safe.
  [[nodiscard]] virtual bool refuses(const Variant&) const { return false; }
  /// True if only moves of tunables can change what is evaluated (recorded spaces).
  [[nodiscard]] virtual bool only_tunables() const { return false; }
  /// What compiling `variant` of a prepared spec tells, without a launch; null: it does not
  /// compile, or this runner cannot tell. A pure function. Thread-safe.
  [[nodiscard]] virtual std::shared_ptr<const Diagnosis> draft(const KernelSpec&,
                                                               const Variant&,
                                                               std::stop_token) {
    return nullptr;
  }
  /// False: draft() never tells.
  [[nodiscard]] virtual bool drafts() const { return false; }
  /// Prepares what all evaluations of `spec` share (reference outputs, compiled oracle). Called
  /// once before `run`, from one thread. Throws Error if the spec cannot run here: a runner must
  /// not fail later for a reason it can know now.
  virtual void prepare(const KernelSpec& spec) = 0;
  /// Up to `lanes()` calls may run concurrently. Returns soon after `stop` is requested, with any
  /// outcome; it is discarded.
  [[nodiscard]] virtual Outcome run(const RunRequest& request, std::stop_token stop) = 0;
  /// Statistics of the runner's own work so far, by name ("lane_busy": share of time that the
  /// measuring lanes were measuring). Thread-safe.
  [[nodiscard]] virtual std::map<std::string, double> figures() const { return {}; }
};
/// Configuration of a runner. `argument`: what follows the colon in `--runner NAME:ARGUMENT`.
struct RunnerConfig {
  std::string argument;
  std::uint64_t seed = 1;
  const Options* options = nullptr;  ///< never null when the program calls
  std::string program;               ///< path of this executable, for worker processes
};

/// A process that a runner starts from this executable: `warpath worker NAME [--gpu N]`.
struct RunnerWorker {
  std::string_view name;
  /// Serves requests on stdin and stdout until stdin ends. `gpu`: the index given by --gpu, or 0.
  /// Returns the exit code.
  int (*serve)(int gpu);
};

/// What the program knows about a runner before it creates one. The functions may be null.
struct RunnerTraits {
  /// What its times are, for headings ("CPU timings"); empty: times of a GPU.
  std::string_view timings = "";
  /// False if outcomes come from a model or a recording: nothing is learned from them for later
  /// runs.
  bool evaluates = true;
  /// Throws Error if this machine cannot run it with these options.
  void (*require)(const Options& options) = nullptr;
  /// Its rank for `--runner auto`, which chooses the runner of the highest; 0, or no function: it
  /// is not chosen. Throws Error if the options ask for it and this machine cannot run it.
  int (*automatic_rank)(const Options& options) = nullptr;
  /// A line for people, shown before candidates run; may be empty. May start processes: called
  /// before threads run.
  std::string (*notice)() = nullptr;
  std::vector<RunnerWorker> workers = {};
};

/// The runners of a build, and the traits of each.
class RunnerRegistry : public Registry<Runner, const RunnerConfig&> {
 public:
  using Registry::Registry;
  void add(const std::string& name,
           const std::string& help,
           Factory make,
           std::vector<const OptionGroupKind*> options = {},
           RunnerTraits traits = {},
           Check check = nullptr) {
    Registry::add(name, help, std::move(make), std::move(options), check);
    traits_.emplace(name, std::move(traits));
  }
  /// Null if there is no such runner.
  [[nodiscard]] const RunnerTraits* traits(std::string_view name) const {
    const auto it = traits_.find(name);
    return it == traits_.end() ? nullptr : &it->second;
  }

 private:
  std::map<std::string, RunnerTraits, std::less<>> traits_;
};

/// `runner.run`, at the boundary of a task: throws nothing but Error (broken infrastructure); any
/// other exception is a fault of the runner on this candidate, and an outcome `crashed`.
[[nodiscard]] Outcome guarded_run(Runner& runner, const RunRequest& request, std::stop_token stop);

/// Workloads of `spec` that a runner on this device uses: those of its own target if any, otherwise
/// those of target `any`.
[[nodiscard]] std::vector<const Workload*> workloads_for(const KernelSpec& spec,
                                                         const DeviceFacts& device);

}  // namespace warpath
