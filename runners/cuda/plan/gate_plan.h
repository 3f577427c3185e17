#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "runners/cuda/options.h"
#include "runners/cuda/plan/gate_table.h"

namespace warpath::cuda {

/// Which gates run at which stage. All names are those of the gate table.
class GatePlan {
 public:
  /// No gates at any stage.
  GatePlan() = default;
  /// Every gate of the table at its declared stage.
  explicit GatePlan(const GateTable& table);
  /// From cuda.screening, cuda.confirmation and cuda.final. A list contains gate names, in running
  /// order; the name of a stage stands for the gates that declare it, the name of a phase for all
  /// its gates, and "-" before a word removes what it stands for. A gate named explicitly in one
  /// list is excluded from collective words in the others. Throws Error(bad_input) naming the
  /// option if a word is unknown or a gate is named twice.
  GatePlan(const CudaOptions& options, const GateTable& table);

  /// Gates of `phase` whose first stage is `stage`, in running order.
  [[nodiscard]] std::vector<std::string_view> begin_at(Stage stage, GatePhase phase) const;
  /// Gates of `phase` that run at `stage`: those whose first stage is it or an earlier one.
  [[nodiscard]] std::vector<std::string_view> run_at(Stage stage, GatePhase phase) const;
  /// True if `gate` runs at `stage`.
  [[nodiscard]] bool runs(std::string_view gate, Stage stage) const;
  /// Completes the verdict of an outcome at `stage`: gates without a result get a line on why they
  /// did not run. If one of them should have run, the outcome fails, since this build cannot run it
  /// and a pass without it is meaningless.
  void complete(Stage stage, Outcome& outcome) const;

 private:
  std::array<std::vector<GateInfo>, kStageNames.size()> stages_;
  std::vector<GateInfo> left_out_;
};

}  // namespace warpath::cuda
