#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "engine/plugin/evaluator.h"
#include "engine/run/campaign.h"
#include "engine/run/event_log.h"
#include "engine/run/record.h"
#include "engine/run/session.h"

namespace warpath {

/// What the end of a session is made with. Everything referred to outlives the call; nothing is
/// under way in the evaluator.
struct FinalStage {
  Campaign& campaign;
  EventWriter& log;
  RunRecord& record;
  Evaluator& evaluator;
  SessionObserver& observer;
  std::size_t lanes = 1;            ///< evaluations under way at once
  std::function<double()> seconds;  ///< wall time of the run so far
  std::function<void()> tick;       ///< called while waiting
  std::stop_token stop;             ///< finish what is under way
  std::stop_token abandon;          ///< drop it
};

/// Evaluates what the finals of a begun campaign want and applies the outcomes, in the order of
/// Finals::due whatever they take, each after its line is on disk. True once the finals are
/// decided, false if a stop came first. Throws Error(environment) as the session does.
[[nodiscard]] bool time_finalists(const FinalStage& stage);

}  // namespace warpath
