#include "engine/run/session_exchange.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/log/events.h"

namespace warpath {

SessionExchange::SessionExchange(const std::vector<LateProposer*>& late,
                                 KernelSpace& space,
                                 Campaign& campaign,
                                 EventWriter& log,
                                 bool deterministic)
    : late_(late), space_(space), campaign_(campaign), log_(log), deterministic_(deterministic) {}

bool SessionExchange::waiting() const {
  return std::ranges::any_of(late_, [](LateProposer* late) { return late->waiting(); });
}

bool SessionExchange::exchange(const std::function<std::uint64_t(std::uint64_t)>& remaining) {
  arrived_ = false;
  if (late_.empty()) return true;
  const std::vector<NodeId> opened = space_.take_opened();
  // In an order that a resumed session finds again.
  for (const NodeId node : std::set<NodeId>(opened.begin(), opened.end())) offer(node, remaining);
  if (deterministic_ && waiting()) return false;
  for (LateProposer* late : late_) {
    for (Arrival& arrival : late->take()) {
      arrived_ = arrived_ || !arrival.proposals.empty();
      for (Proposal& p : arrival.proposals) p.source = late->name();
      const ArrivalEvent event{.key = arrival.key,
                               .proposer = std::string(late->name()),
                               .share = arrival.share,
                               .more = arrival.more,
                               .proposals = std::move(arrival.proposals)};
      log_.append(encode(event), false);
      campaign_.apply(event, "events.jsonl");
    }
  }
  return true;
}

void SessionExchange::offer(NodeId node,
                            const std::function<std::uint64_t(std::uint64_t)>& remaining) {
  const KernelSpace::Context held = space_.context(node);
  const ProposalContext& context = held.context;
  const std::vector<Proposal> legal = space_.legal(node);
  const Offer offer{.context = context,
                    .legal = legal,
                    .speedup = campaign_.speedup(node),
                    .best_speedup = campaign_.best_speedup(),
                    .remaining_builds = remaining(campaign_.dispatched() + campaign_.late_count())};
  for (LateProposer* late : late_) {
    if (!late->once() || !campaign_.has_heard(context.node_key, late->name())) late->offer(offer);
  }
}

bool SessionExchange::all_heard(const Hash128& key) const {
  return std::ranges::all_of(late_, [&](const LateProposer* late) {
    return late->once() && campaign_.has_heard(key, late->name());
  });
}

void SessionExchange::tell_past() {
  if (late_.empty()) return;
  for (const NodeId node : campaign_.evaluated()) tell(node);
  std::set<Hash128> wished;
  for (const LateProposer* late : late_) {
    for (const Hash128& key : late->wishes()) wished.insert(key);
  }
  for (std::uint32_t i = 0; i < space_.size(); ++i) {
    const Node& node = campaign_.search().graph()[NodeId{i}];
    const Hash128 key = space_.key(NodeId{i});
    const bool open =
        i == 0 || node.opened || (node.state == NodeState::measured && wished.contains(key));
    if (open && !all_heard(key)) static_cast<void>(space_.legal(NodeId{i}));
  }
}

void SessionExchange::tell(NodeId node) {
  const std::shared_ptr<const Outcome> outcome = space_.outcome(node);
  if (late_.empty() || outcome == nullptr || space_.parent(node) == kNoNode) return;
  const NodeId parent = space_.parent(node);
  const MoveInstance instance = space_.instance(node);
  const std::string source(space_.source(node));
  const Variant variant = space_.variant(node);
  for (LateProposer* late : late_) {
    late->learn({.parent_key = space_.key(parent),
                 .key = space_.key(node),
                 .instance = instance,
                 .source = source,
                 .variant = variant,
                 .outcome = *outcome,
                 .speedup = campaign_.speedup(node),
                 .parent_speedup = parent == NodeId{0} ? 1 : campaign_.speedup(parent)});
  }
}

}  // namespace warpath
