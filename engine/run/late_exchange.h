#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "engine/plugin/late_proposer.h"
#include "engine/run/campaign.h"
#include "engine/run/event_log.h"
#include "engine/run/kernel_space.h"

namespace warpath {

/// Talks to the late proposers of a session: offers them the nodes that the search opened, writes
/// what comes into the log before the campaign learns of it, tells outcomes. All references outlive
/// it. One thread.
class LateExchange {
 public:
  /// `deterministic`: nothing is taken while somebody may still answer.
  LateExchange(const std::vector<LateProposer*>& late,
               KernelSpace& space,
               Campaign& campaign,
               EventWriter& log,
               bool deterministic);

  /// What earlier sessions learned. The root, what is wished for, and what was opened and not
  /// answered is open to all.
  void tell_past();
  /// The outcome of a node, where it has one.
  void tell(NodeId node);
  /// Offers what the search opened, and takes what came. `remaining`: builds left once so many were
  /// dispatched. False: the deterministic mode must wait for answers first.
  bool exchange(const std::function<std::uint64_t(std::uint64_t)>& remaining);
  /// True if the last exchange brought proposals.
  [[nodiscard]] bool arrived() const { return arrived_; }
  /// Somebody may still answer.
  [[nodiscard]] bool waiting() const;
  /// The search opened nodes that nobody was told of.
  [[nodiscard]] bool has_offers() const { return !late_.empty() && space_.has_opened(); }
  [[nodiscard]] bool has_proposers() const { return !late_.empty(); }

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
