#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/cuda/gates/gate.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

/// Which gates run at which stage. Every name is one of the table that the plan was made from.
class GatePlan {
 public:
  /// No gate at any stage.
  GatePlan() = default;
  /// Every gate of the table at the stage that it declares.
  explicit GatePlan(const GateTable& table);
  /// From cuda.screening, cuda.confirmation and cuda.final. A list names gates, in running order;
  /// the name of a stage stands for the gates that declare it, that of a phase for all of the
  /// phase, "-" before a word leaves out what it stands for. A gate that is named in one list is
  /// not in what words stand for in another. Throws Error(bad_input) naming the option where a word
  /// is unknown or a gate is named twice.
  GatePlan(const CudaOptions& options, const GateTable& table);

  /// Gates of `phase` that begin at `stage`, in running order.
  [[nodiscard]] std::vector<std::string_view> begin_at(Stage stage, GatePhase phase) const;
  /// Gates of `phase` that run at `stage`: those that begin there or earlier.
  [[nodiscard]] std::vector<std::string_view> run_at(Stage stage, GatePhase phase) const;
  /// True if `gate` runs at `stage`.
  [[nodiscard]] bool runs(std::string_view gate, Stage stage) const;
  /// Completes the verdict of an outcome at `stage`: gates without an answer get a line that says
  /// why they did not run. One that should have run fails the outcome: nothing in this build runs
  /// it, and what passed without it means nothing.
  void complete(Stage stage, Outcome& outcome) const;

 private:
  std::array<std::vector<GateInfo>, kStageNames.size()> stages_;
  std::vector<GateInfo> left_out_;
};

}  // namespace warpath::cuda
