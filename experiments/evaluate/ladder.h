#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/spec/spec.h"
#include "experiments/evaluate/evaluation.h"
#include "moves/propose/move_script.h"

namespace warpath {

/// One step of a scripted path, with its result.
struct Rung {
  /// the complete instance of the move; "patch FILE"; if refused, the request
  std::string step;
  /// why the step was refused; the variant is then that of the rung before
  std::string refusal;
  Variant variant;
  Evaluated result;  ///< of an applied and evaluated step
  TimeSummary time;
  /// one of several alternatives at the same rung; later rungs do not build on it
  bool aside = false;
  /// speed-up over the previous ok rung that is not aside (or the baseline); 0 unless ok
  double over_previous = 0;
  /// lower bound for the first scored workload: its declared work at measured peaks; 0: unknown
  double bound_ns = 0;
  double bound_fraction = 0;  ///< achieved fraction of the bound; 0: unknown
  [[nodiscard]] bool refused() const { return !refusal.empty(); }
};

/// Applies the patches in `files` (moves/patch/patch.h), one rung each, to the source of
/// rungs.back(). Stops after one that does not apply unless `keep_going`. Throws Error(bad_input)
/// for an unreadable file.
void patch(const KernelSpec& spec,
           const std::vector<std::string>& files,
           bool keep_going,
           std::vector<Rung>& rungs);

/// Applies `script` from rungs.back() on, appending a rung per step. Stops after a refused step
/// unless `keep_going`. Throws Error(bad_input) with `place` for an unregistered move.
void climb(const MoveTable& moves,
           const KernelSpec& spec,
           const DeviceFacts& device,
           const std::vector<MoveInstance>& script,
           bool keep_going,
           std::string_view place,
           std::vector<Rung>& rungs);

/// What a move lists at a variant.
struct MoveOffers {
  std::string move;
  std::size_t instances = 0;
  std::vector<std::string> sites{};  ///< in the move's order, each once
  std::string refusal{};             ///< why it lists nothing
};

/// Appends every instance listed by `tried` at rungs.back(), at most `most` per move, each aside.
/// Returns what each of them lists.
std::vector<MoveOffers> try_each(const std::vector<const Move*>& tried,
                                 const KernelSpec& spec,
                                 const DeviceFacts& device,
                                 std::size_t most,
                                 std::vector<Rung>& rungs);

/// A line per move: how many instances at which sites, or why none.
[[nodiscard]] std::string offers_table(const std::vector<MoveOffers>& offers);

/// Computes `over_previous` and the bound from the outcomes.
void relate(const KernelSpec& spec, const DeviceFacts& device, std::vector<Rung>& rungs);

/// One row per rung. `runner_text` labels the times; with "compile" there are none, and static
/// figures are shown instead.
[[nodiscard]] std::string ladder_table(const std::vector<Rung>& rungs,
                                       const std::string& runner_text);

/// One rung as a JSON object: that of its evaluation (docs/evaluate.md) plus rung, step, refusal,
/// key, speedup_over_previous, bound_ms and bound_fraction.
[[nodiscard]] nlohmann::json ladder_json(const Rung& rung, std::size_t number, Stage stage);

}  // namespace warpath
