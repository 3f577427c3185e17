#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/run/attribution.h"
#include "experiments/console/command.h"
#include "experiments/console/interrupt.h"
#include "experiments/evaluate/batch.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/setup/recorded_run.h"
#include "experiments/setup/runner_choice.h"
#include "moves/propose/leave_one_out.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// How to attribute the path to a recorded kernel.
struct AttributionSetup {
  const RecordedRun& run;
  std::size_t node = 0;  ///< the kernel
  std::string runner_text;
  Options options;
  int repeat = 3;  ///< number of evaluations of each variant
  Stage stage = Stage::confirmation;
  /// architecture whose code decides; "none"; absent: the device's, or kAssumedArch, which is then
  /// only evidence
  std::optional<std::string> code;
  std::string program;  ///< of this executable, for workers
};

/// The architecture inspected if the device is not a GPU.
inline constexpr const char* kAssumedArch = "sm_90a";

/// Leaves out each move of the path in turn, and undoes it if it has an inverse; evaluates the
/// results, the kernel itself and the baseline alternately with the kernel; compares the code
/// before and after each move. nullopt: stopped before everything was measured. Throws as
/// evaluate_candidates, and Error(bad_input) if the node is the baseline or was not ok.
[[nodiscard]] std::optional<Attribution> attribute(
    const AttributionSetup& setup,
    const MoveTable& moves,
    Runner& runner,
    const std::function<void(const EvaluationFigures&)>& on_tick,
    const std::stop_token& stop,
    const std::stop_token& abandon);

/// The recorded path to a node, decomposed. `spec`, `device` and `moves` must outlive it.
[[nodiscard]] MovePath recorded_path(const RecordedRun& run,
                                     std::size_t node,
                                     const KernelSpec& spec,
                                     const DeviceFacts& device,
                                     const MoveTable& moves);
/// `kernel`, an outcome of the best, over another one by the latter's `outcomes`, whose launches
/// alternated with it; its status if one of them is not ok. `key` and `also_without` are the
/// caller's.
[[nodiscard]] Ablation ablation_of(const KernelSpec& spec,
                                   const DeviceFacts& device,
                                   const Outcome& kernel,
                                   const std::vector<Outcome>& outcomes,
                                   std::uint64_t seed);

/// A request by `warpath attribute` or `warpath run --attribute`.
struct AttributionRequest {
  std::filesystem::path folder;  ///< of the run
  std::string node = "best";     ///< as for RecordedRun::find
  RunnerChoice runner;
  Options options;  ///< of the run, with overrides
  int repeat = 3;
  Stage stage = Stage::confirmation;
  std::optional<std::string> code = std::nullopt;  ///< as in AttributionSetup
};

/// The same for a run folder, which is locked meanwhile, with the path shortened; writes
/// attribution.json there, and short_kernel.cu if the short path is as good. Reports progress on
/// stderr. nullopt: interrupted, nothing was written. Throws as above, and if the
/// folder contains no run or another process holds it.
[[nodiscard]] std::optional<Attribution> attribute_run(const AttributionRequest& request,
                                                       const Plugins& plugins,
                                                       const Program& program,
                                                       const InterruptWatch& interrupts);

/// attribution.json of a run folder; nullopt if there is none. Throws Error(bad_input) if it cannot
/// be read.
[[nodiscard]] std::optional<Attribution> recorded_attribution(const std::filesystem::path& folder);

/// "without what gains nothing (MOVES): as good, the best over it 1.001x [...], pass 17/19, ..."
[[nodiscard]] std::string short_path_text(const ShortPath& path);
/// One line per move: verdict, speed-up with its interval, reverse edge, evidence in the code.
[[nodiscard]] std::string attribution_table(const Attribution& attribution);

/// "1.312x [1.290, 1.330]"; the reason if there is none.
[[nodiscard]] std::string ablation_text(const Ablation& ablation);
/// "yes: shared_store 0 to 4", "no: ...", "-" if the code was not inspected.
[[nodiscard]] std::string evidence_text(const MoveAttribution& move);

}  // namespace warpath
