#pragma once

#include <vector>

#include "engine/log/event_log.h"
#include "engine/plugin/late_proposer.h"
#include "engine/run/campaign.h"
#include "engine/run/kernel_space.h"
#include "engine/run/late_exchange.h"

namespace warpath {

/// Connects a session with late proposers: offers them the nodes that the search opened, logs
/// answers before the campaign receives them, reports outcomes. References must outlive it. Not
/// thread-safe.
class SessionExchange final : public LateExchange {
 public:
  /// `deterministic`: take no answers while more may still come.
  SessionExchange(const std::vector<LateProposer*>& late,
                  KernelSpace& space,
                  Campaign& campaign,
                  EventWriter& log,
                  bool deterministic);

  /// Reports what earlier sessions learned. Offers the root, the wished-for nodes, and nodes opened
  /// but not answered.
  void tell_past();
  /// Reports the outcome of a node, if it has one.
  void tell(NodeId node);
  bool exchange(const std::function<std::uint64_t(std::uint64_t)>& remaining) override;
  [[nodiscard]] bool arrived() const override { return arrived_; }
  [[nodiscard]] bool waiting() const override;
  [[nodiscard]] bool has_offers() const override { return !late_.empty() && space_.has_opened(); }
  [[nodiscard]] bool has_proposers() const override { return !late_.empty(); }

 private:
  void offer(NodeId node, const std::function<std::uint64_t(std::uint64_t)>& remaining);
  [[nodiscard]] bool all_heard(const Hash128& key) const;

  const std::vector<LateProposer*>& late_;
  KernelSpace& space_;
  Campaign& campaign_;
  EventWriter& log_;
  const bool deterministic_;
  bool arrived_ = false;
};

}  // namespace warpath
