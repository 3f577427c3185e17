#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"
#include "runners/host/compile/compile.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/judge/inputs.h"

namespace warpath::host {

/// A launch made for checking, with its expected results.
struct CheckedLaunch {
  const Workload* workload = nullptr;
  const InputSet* inputs = nullptr;
  LaunchCommand command;
  Answer<LaunchReply> answer;
  std::vector<Tensor> outputs;  ///< in the order of output_arguments; empty if the worker was lost
  [[nodiscard]] std::string label() const;  ///< "workload host, inputs 1f, reverse order"
};

/// Everything known of a candidate so far.
struct Evidence {
  const KernelSpec* spec = nullptr;
  const Variant* variant = nullptr;
  double launch_seconds = 0;  ///< limit per launch
  bool reference_is_baseline = false;
  std::vector<const Variant*> kernels;        ///< of the variant: which each workload launches
  std::vector<Compiled> compiled;             ///< one per kernel and set of macros
  std::vector<const Variant*> compiled_from;  ///< the kernel of each
  std::vector<Answer<LoadReply>> loaded;
  std::string launch_problem;          ///< a launch expression that cannot be evaluated
  std::vector<LaunchNumbers> numbers;  ///< one per workload
  std::vector<ExtraNumbers> extras;    ///< likewise
  std::vector<CheckedLaunch> checked;
  std::size_t families = 0;  ///< kinds of inputs that there are for the launches checked
  std::vector<CheckedLaunch> interleaved;  ///< those that ended, of code whose threads switch
  /// the spec's own kernel, too, stores in no order (LaunchReply::unordered_argument)
  bool baseline_stores_unordered = false;
  std::vector<CheckedLaunch> timed;  ///< the last launch of each timing
  /// workload on which a finalist could not be timed in turn with the baseline; empty: none
  std::string timed_alone;
};

/// The point of an evaluation at which a gate's evidence is complete.
enum class GateStage : std::uint8_t { compile, load, check, time };

struct GateFailure {
  Status status = Status::rejected;
  std::string detail;
};

/// One check of the evidence. `figure` may add the quantity that a pass was judged by.
struct Gate {
  std::string_view name;
  GateStage stage;
  std::string_view help;
  std::optional<GateFailure> (*check)(const Evidence& evidence, std::string& figure);
};

/// All gates from cheap to expensive, the order of every verdict.
[[nodiscard]] std::span<const Gate> gates();

/// Collects gate results. Once a gate has failed, later ones do not run.
class VerdictBuilder {
 public:
  VerdictBuilder();
  /// Evaluates the gates of `stage`; false once one has failed.
  bool judge(GateStage stage, const Evidence& evidence);
  /// Marks one gate as not run, with the reason.
  void skip(std::string_view gate, const std::string& why);
  /// Marks the gates of `stage` as not run, with the reason.
  void skip(GateStage stage, const std::string& why);
  [[nodiscard]] const Verdict& verdict() const { return verdict_; }
  [[nodiscard]] const std::optional<GateFailure>& failure() const { return failure_; }

 private:
  Verdict verdict_;
  std::optional<GateFailure> failure_;
};

}  // namespace warpath::host
