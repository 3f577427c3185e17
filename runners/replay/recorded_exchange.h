#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "engine/run/campaign.h"
#include "engine/run/late_exchange.h"
#include "runners/replay/options.h"
#include "runners/replay/recording.h"
#include "runners/replay/virtual_evaluator.h"

namespace warpath {

/// A late proposer whose answers are recorded: the late moves of a node (Recording::Steps::late)
/// arrive `late_seconds` of the virtual clock after the search opened the node. References must
/// outlive it. Deterministic.
class RecordedExchange final : public LateExchange {
 public:
  /// `deterministic`: the search waits for every answer, and the clock with it.
  RecordedExchange(Recording::Walk& walk,
                   Campaign& campaign,
                   VirtualEvaluator& clock,
                   const ReplayOptions& options,
                   bool deterministic);

  bool exchange(const std::function<std::uint64_t(std::uint64_t)>& remaining) override;
  [[nodiscard]] bool arrived() const override { return arrived_; }
  [[nodiscard]] bool waiting() const override { return !due_.empty(); }
  [[nodiscard]] bool has_offers() const override { return walk_.has_opened(); }
  [[nodiscard]] bool has_proposers() const override { return true; }
  /// Advances the clock to the next answer; call while nothing is in flight.
  void pass();

 private:
  struct Due {
    double at = 0;  ///< seconds of the virtual clock
    NodeId node = kNoNode;
  };

  Recording::Walk& walk_;
  Campaign& campaign_;
  VirtualEvaluator& clock_;
  const ReplayOptions& options_;
  const bool deterministic_;
  std::deque<Due> due_;  // in order of time
  bool arrived_ = false;
};

}  // namespace warpath
