#pragma once

#include <cmath>
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

/// A finalist, and what its checks in separate processes need.
struct FinalistSetup {
  const std::string& program;  ///< this program, from which device workers are started
  int gpu = 0;                 ///< index of a local device, on which nothing is timed meanwhile
  const CudaOptions& options;
  const DeviceTools& tools;
  const Builder& builder;
  const KernelSpec& spec;
  const PrepareProblem& problem;  ///< as the spec declares it
  const Variant& variant;
  const Candidate& candidate;  ///< `variant`, built for `problem`
  /// of its launches, and of the spec's kernel run alongside
  const std::vector<WorkloadTiming>& timings;
  std::stop_token stop;
  double seconds = INFINITY;  ///< wall time for one tool; what takes longer is left out
};

/// One workload with the candidates to run on it.
struct FinalistCase {
  PrepareProblem problem;
  Candidate candidate;
};

/// The first scored workload; null: none.
[[nodiscard]] const Workload* scored_workload(const FinalistSetup& setup);
/// "M = 64, N = 128": the sizes in which `workload` differs from `declared`.
[[nodiscard]] std::string sizes_text(const Workload& workload, const Workload& declared);
/// Builds the variant, the spec's kernel and its reference for `other`, a spec with one workload;
/// nullopt with the reason.
[[nodiscard]] std::optional<FinalistCase> build_case(const FinalistSetup& setup,
                                                     const KernelSpec& other,
                                                     std::string& why);
/// Integer arguments whose value the variant has compiled in (small_workload.h).
[[nodiscard]] std::set<std::string> integers_in_code(const FinalistSetup& setup,
                                                     const Workload& workload);
/// A worker that checks launches by `gates`, a list of names; its timings are not used. It is
/// killed after `seconds`.
[[nodiscard]] LaneSetup checking_lane(const FinalistSetup& setup,
                                      std::string label,
                                      std::string gates,
                                      double seconds);
/// Runs one evaluation through the worker's gates.
[[nodiscard]] TrialReply screen(DeviceLane& lane,
                                const Candidate& candidate,
                                const std::stop_token& stop);

}  // namespace warpath::cuda
