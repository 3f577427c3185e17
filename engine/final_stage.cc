#include "engine/final_stage.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>

#include "engine/outcome_io.h"

namespace warpath {
namespace {

constexpr std::chrono::milliseconds kTick{100};

void submit(const FinalStage& stage, NodeId node) {
  const KernelSpace& space = stage.campaign.space();
  stage.evaluator.submit({.sequence = index(node),
                          .variant = space.variant(node),
                          .key = space.key(node),
                          .seed = stage.campaign.final_seed(node),
                          .incumbent_ns = 0,
                          .stage = Stage::final});
}

void apply(const FinalStage& stage, NodeId node, Outcome outcome) {
  Campaign& campaign = stage.campaign;
  const KernelSpace& space = campaign.space();
  FinalEvent event{.key = space.key(node),
                   .node = node,
                   .outcome = recordable(std::move(outcome)),
                   .at = unix_now(),
                   .seconds = stage.seconds()};
  campaign.finals().judge(node, event.outcome);
  stage.log.append(encode(event), true);
  const Finals::Applied applied = campaign.apply(event, "events.jsonl");
  stage.record.add(event, applied);
  stage.observer.on_final({.node = node,
                           .key = event.key,
                           .move = node == NodeId{0} ? "baseline" : space.instance(node).text(),
                           .outcome = event.outcome,
                           .speedup = applied.speedup,
                           .searched_speedup = campaign.speedup(node)});
}

}  // namespace

bool time_finalists(const FinalStage& stage) {
  std::set<NodeId> under_way;
  std::map<NodeId, Outcome> ready;
  for (;;) {
    const std::vector<NodeId> due = stage.campaign.finals().due();
    if (due.empty()) return true;
    if (stage.abandon.stop_requested()) return false;
    if (auto first = ready.extract(due.front())) {
      apply(stage, due.front(), std::move(first.mapped()));
      continue;
    }
    for (const NodeId node : due) {
      if (stage.stop.stop_requested() || under_way.size() >= stage.lanes) break;
      if (!ready.contains(node) && under_way.insert(node).second) submit(stage, node);
    }
    if (under_way.empty()) return false;
    if (std::optional<Completion> done = stage.evaluator.wait(kTick)) {
      const NodeId node{static_cast<std::uint32_t>(done->sequence)};
      under_way.erase(node);
      ready.emplace(node, std::move(done->outcome));
    } else {
      stage.tick();
    }
  }
}

}  // namespace warpath
