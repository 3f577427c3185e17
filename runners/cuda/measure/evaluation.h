#pragma once

#include <memory>

#include "runners/cuda/measure/messages.h"
#include "runners/cuda/measure/trial.h"
#include "runners/cuda/plan/gate_plan.h"

namespace warpath::cuda {

/// Evaluates candidates of one problem on one device: gates in the plan's order, timing and, for a
/// possible best or a later stage, the gates of confirmation and report. Remembers the best
/// candidate it confirmed as the rival of later ones. At screening a new best is confirmed if it is
/// faster than the last confirmed one by cuda.confirm_gain, within cuda.confirm_share of the
/// device's time; what a search reports passes all gates at its end. Not thread-safe.
class Evaluation {
 public:
  Evaluation(Bench& bench, Problem& problem);

  /// Never throws for a bad candidate. Throws Error(environment) if the device is at fault.
  [[nodiscard]] TrialReply run(const TrialRequest& request);
  void set_rival(Candidate rival) { rival_ = {std::move(rival), false}; }

 private:
  struct Running;
  bool judge(Running& running, Stage stage) const;
  [[nodiscard]] bool worth_confirming(Running& running, const TrialRequest& request) const;
  void leave_clean(Running& running, bool good) const;
  void diagnose(Trial& trial) const;
  void note_neighbours(Trial& trial) const;
  [[nodiscard]] bool is_slow_baseline(const TrialRequest& request) const;
  void leave_out(Running& running, Stage last) const;
  void report_times(Running& running, TrialReply& reply) const;

  Bench& bench_;
  Problem& problem_;
  const GateTable gates_;
  const GatePlan plan_;
  Rival rival_;
  /// objective of the best confirmed here; 0: the baseline is not timed yet
  double confirmed_ns_ = 0;
  double baseline_launch_ns_ = 0;  ///< of its longest workload; 0: not evaluated yet
  double lane_seconds_ = 0, confirming_seconds_ = 0;
};

}  // namespace warpath::cuda
