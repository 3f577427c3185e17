#include "runners/replay/recorded_exchange.h"

#include <algorithm>

namespace warpath {

RecordedExchange::RecordedExchange(Recording::Walk& walk,
                                   Campaign& campaign,
                                   VirtualEvaluator& clock,
                                   const ReplayOptions& options,
                                   bool deterministic)
    : walk_(walk),
      campaign_(campaign),
      clock_(clock),
      options_(options),
      deterministic_(deterministic) {}

bool RecordedExchange::exchange(const std::function<std::uint64_t(std::uint64_t)>&) {
  arrived_ = false;
  for (const NodeId node : walk_.take_opened())
    due_.push_back({clock_.now() + options_.late_seconds, node});
  for (; !due_.empty(); due_.pop_front()) {
    if (deterministic_) pass();
    if (due_.front().at > clock_.now()) break;
    const NodeId node = due_.front().node;
    const ArrivalEvent event{.key = walk_.key(node),
                             .proposer = "recorded",
                             .share = options_.late_share,
                             .more = false,
                             .proposals = walk_.late_proposals(node)};
    arrived_ = arrived_ || !event.proposals.empty();
    campaign_.apply(event, "a study");
  }
  return true;
}

void RecordedExchange::pass() {
  if (!due_.empty()) clock_.pass(std::max(0.0, due_.front().at - clock_.now()));
}

}  // namespace warpath
