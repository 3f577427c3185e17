#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "experiments/evaluate/attributing.h"

namespace warpath {

/// The path to the kernel of `setup` without the moves that `attribution` found to gain nothing
/// (neutral, harmful, not realised), and those that need one of these. It is judged as a finalist
/// is, by all gates and with the floors of guard workloads, on inputs of its own, `setup.repeat`
/// times, alternately with the kernel. `variant`, if not null, receives it. nullopt: every move
/// counts, the rest is no kernel, or a stop came first. Throws as evaluate_candidates.
[[nodiscard]] std::optional<ShortPath> shorten_path(
    const AttributionSetup& setup,
    const Attribution& attribution,
    const MoveTable& moves,
    Runner& runner,
    const std::function<void(const EvaluationFigures&)>& on_tick,
    const std::stop_token& stop,
    const std::stop_token& abandon,
    Variant* variant);

}  // namespace warpath
