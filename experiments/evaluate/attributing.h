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
#include "moves/propose/move_script.h"

namespace warpath {

/// How the path to a recorded kernel is taken apart.
struct AttributionSetup {
  const RecordedRun& run;
  std::size_t node = 0;  ///< the kernel
  std::string runner_text;
  Options options;
  int repeat = 3;  ///< evaluations of each variant
  Stage stage = Stage::confirmation;
  /// architecture whose code is looked at and decides; "none"; not given: the device's, or for
  /// evidence alone kAssumedArch
  std::optional<std::string> code;
  std::string program;  ///< of this executable, for workers
};

/// What code is looked at where the device has none of a GPU.
inline constexpr const char* kAssumedArch = "sm_90a";

/// Leaves out each move of the path in turn, and undoes it where it has an inverse; evaluates what
/// comes of it, the kernel itself and the baseline in turn with the kernel; looks at the code
/// before and after each move. nullopt: stopped before all was measured. Throws as
/// evaluate_candidates; Error(bad_input) where the node is the baseline or was not ok.
[[nodiscard]] std::optional<Attribution> attribute(
    const AttributionSetup& setup,
    const MoveTable& moves,
    Runner& runner,
    const std::function<void(const EvaluationFigures&)>& on_tick,
    const std::stop_token& stop,
    const std::stop_token& abandon);

/// What `warpath attribute` and `warpath run --attribute` ask for.
struct AttributionRequest {
  std::filesystem::path folder;  ///< of the run
  std::string node = "best";     ///< as RecordedRun::find takes it
  RunnerChoice runner;
  Options options;  ///< of the run, or laid over them
  int repeat = 3;
  Stage stage = Stage::confirmation;
  std::optional<std::string> code = std::nullopt;  ///< as in AttributionSetup
};

/// The same for a run folder, which is held meanwhile; writes attribution.json there. Progress goes
/// to stderr. nullopt: interrupted, nothing was written. Throws as above, and where the folder
/// holds no run or another process holds it.
[[nodiscard]] std::optional<Attribution> attribute_run(const AttributionRequest& request,
                                                       const Plugins& plugins,
                                                       const Program& program,
                                                       const InterruptWatch& interrupts);

/// attribution.json of a run folder; nullopt if there is none. Throws Error(bad_input) where it
/// cannot be read.
[[nodiscard]] std::optional<Attribution> recorded_attribution(const std::filesystem::path& folder);

/// A line a move: verdict, speed-up with its interval, reverse edge, what the code shows.
[[nodiscard]] std::string attribution_table(const Attribution& attribution);

/// "1.312x [1.290, 1.330]"; the reason where there is none.
[[nodiscard]] std::string ablation_text(const Ablation& ablation);
/// "yes: shared_store 0 to 4", "no: ...", "-" where the code was not looked at.
[[nodiscard]] std::string evidence_text(const MoveAttribution& move);

}  // namespace warpath
