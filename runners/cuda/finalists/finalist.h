#pragma once

#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/outcome.h"
#include "runners/cuda/compile/build.h"
#include "runners/cuda/lanes/device_lane.h"
#include "runners/cuda/measure/messages.h"

namespace warpath::cuda {

/// A finalist, and what checks of it in processes of their own need.
struct FinalistSetup {
  const std::string& program;  ///< this one: device workers are started from it
  int gpu = 0;                 ///< index of a local device, on which nothing is timed meanwhile
  const CudaOptions& options;
  const DeviceTools& tools;
  const Builder& builder;
  const KernelSpec& spec;
  const PrepareProblem& problem;  ///< as the spec has it
  const Variant& variant;
  const Candidate& candidate;  ///< `variant`, built for `problem`
  /// of its launches, and of the spec's kernel beside them
  const std::vector<WorkloadTiming>& timings;
  std::stop_token stop;
};

/// One workload, and what runs on it.
struct FinalistCase {
  PrepareProblem problem;
  Candidate candidate;
};

/// The first one that is scored; null: none is.
[[nodiscard]] const Workload* scored_workload(const FinalistSetup& setup);
/// "M = 64, N = 128": what sets `workload` apart from `declared`.
[[nodiscard]] std::string sizes_text(const Workload& workload, const Workload& declared);
/// The variant, the spec's kernel and its reference built for `other`, a spec of one workload;
/// nullopt with the reason.
[[nodiscard]] std::optional<FinalistCase> build_case(const FinalistSetup& setup,
                                                     const KernelSpec& other,
                                                     std::string& why);
/// Integer arguments of which the variant knows the value from its code (small_workload.h).
[[nodiscard]] std::set<std::string> integers_in_code(const FinalistSetup& setup,
                                                     const Workload& workload);
/// A worker that checks launches by `gates`, a list of names, and times nothing worth telling.
/// Whoever takes more than `seconds` is ended.
[[nodiscard]] LaneSetup checking_lane(const FinalistSetup& setup,
                                      std::string label,
                                      std::string gates,
                                      double seconds);
/// One evaluation by the worker's gates.
[[nodiscard]] TrialReply screen(DeviceLane& lane,
                                const Candidate& candidate,
                                const std::stop_token& stop);

}  // namespace warpath::cuda
