#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/spec/spec.h"
#include "experiments/evaluate/evaluation.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// One step of a scripted path, and what became of it.
struct Rung {
  /// the move's instance in full; "patch FILE"; what was asked for, where it was refused
  std::string step;
  /// why the step could not be taken; the variant is then that of the rung before
  std::string refusal;
  Variant variant;
  Evaluated result;  ///< of a step that was taken and evaluated
  TimeSummary time;
  /// one of many tries from the same rung, not a rung that others stand on
  bool aside = false;
  /// speed-up over the last ok rung before that is not aside (the baseline counts); 0 unless ok
  double over_previous = 0;
  /// least time of the first scored workload: its declared work at measured peaks; 0: unknown
  double bound_ns = 0;
  double bound_fraction = 0;  ///< of the bound that is reached; 0: unknown
  [[nodiscard]] bool refused() const { return !refusal.empty(); }
};

/// Applies the patches in `files` (moves/patch/patch.h), a rung each, to the source of
/// rungs.back(). Ends after one that does not fit unless `keep_going`. Throws Error(bad_input) for
/// a file that cannot be read.
void patch(const KernelSpec& spec,
           const std::vector<std::string>& files,
           bool keep_going,
           std::vector<Rung>& rungs);

/// Carries `script` out from rungs.back() on and appends a rung a step. Ends after a refused step
/// unless `keep_going`. Throws Error(bad_input) with `place` for a move that is not registered.
void climb(const MoveTable& moves,
           const KernelSpec& spec,
           const DeviceFacts& device,
           const std::vector<MoveInstance>& script,
           bool keep_going,
           std::string_view place,
           std::vector<Rung>& rungs);

/// Appends every instance that `tried` list at rungs.back(), at most `most` of a move, each aside.
void try_each(const std::vector<const Move*>& tried,
              const KernelSpec& spec,
              const DeviceFacts& device,
              std::size_t most,
              std::vector<Rung>& rungs);

/// Fills `over_previous` and the bound from the outcomes.
void relate(const KernelSpec& spec, const DeviceFacts& device, std::vector<Rung>& rungs);

/// A row a rung. `runner_text` labels the times; with "compile" there are none, and static figures
/// stand in their place.
[[nodiscard]] std::string ladder_table(const std::vector<Rung>& rungs,
                                       const std::string& runner_text);

/// One rung as a JSON object: that of its evaluation (docs/evaluate.md) with rung, step, refusal,
/// key, speedup_over_previous, bound_ms and bound_fraction.
[[nodiscard]] nlohmann::json ladder_json(const Rung& rung, std::size_t number, Stage stage);

}  // namespace warpath
