#include "engine/run/final_stage.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/plugin/outcome_io.h"

namespace warpath {
namespace {

constexpr std::chrono::milliseconds kStopCheck{100};

void submit(const FinalStage& stage, std::uint64_t sequence, const Finals::Due& due) {
  const KernelSpace& space = stage.campaign.space();
  const double searched = due.node == NodeId{0} ? 0 : stage.campaign.speedup(due.node);
  stage.evaluator.submit({.sequence = sequence,
                          .variant = space.variant(due.node),
                          .key = space.key(due.node),
                          .seed = stage.campaign.final_seed(due),
                          .incumbent_ns = 0,
                          .stage = due.stage,
                          .searched_ns = searched > 0 && due.stage == Stage::final
                                             ? 1e6 * stage.campaign.baseline_ms() / searched
                                             : 0});
}

/// Judges, logs, applies, records.
template <class E>
FinalReport apply_event(const FinalStage& stage, E& event) {
  Campaign& campaign = stage.campaign;
  const KernelSpace& space = campaign.space();
  event.key = space.key(event.node);
  event.at = unix_now();
  event.seconds = stage.seconds();
  campaign.finals().judge(event.node, event.outcome);
  stage.log.append(encode(event), true);
  const Finals::Applied applied = campaign.apply(event, "events.jsonl");
  stage.record.add(event, applied);
  return {.node = event.node,
          .key = event.key,
          .move = event.node == NodeId{0} ? "baseline" : space.instance(event.node).text(),
          .outcome = event.outcome,
          .speedup = applied.speedup,
          .searched_speedup = campaign.speedup(event.node)};
}

void apply(const FinalStage& stage, const Finals::Due& due, Outcome outcome) {
  outcome = recordable(std::move(outcome));
  if (due.stage == Stage::final) {
    FinalEvent event{.key = {}, .node = due.node, .outcome = std::move(outcome)};
    stage.observer.on_final(apply_event(stage, event));
  } else {
    HeatEvent event{
        .key = {}, .node = due.node, .reading = due.reading, .outcome = std::move(outcome)};
    stage.observer.on_heat(apply_event(stage, event));
  }
}

}  // namespace

bool time_finalists(const FinalStage& stage) {
  std::map<std::uint64_t, Finals::Due> under_way;
  std::map<Finals::Due, Outcome> ready;
  // and not applied; what was begun counts, even where the time is over when it comes
  std::deque<Finals::Due> begun;
  std::uint64_t sequence = 0;
  for (;;) {
    const std::vector<Finals::Due> due = stage.campaign.finals().due();
    if (due.empty() && begun.empty()) return true;
    if (stage.abandon.stop_requested()) return false;
    if (!begun.empty()) {
      if (auto first = ready.extract(begun.front())) {
        apply(stage, begun.front(), std::move(first.mapped()));
        begun.pop_front();
        continue;
      }
    }
    for (const Finals::Due& next : due) {
      if (stage.stop.stop_requested() || under_way.size() >= stage.lanes) break;
      if (std::ranges::find(begun, next) != begun.end()) continue;
      if (next.stage == Stage::final && begun.size() >= stage.campaign.finals().room()) break;
      submit(stage, sequence, next);
      under_way.emplace(sequence++, next);
      begun.push_back(next);
    }
    if (under_way.empty()) return false;
    if (std::optional<Completion> done = stage.evaluator.wait(kStopCheck)) {
      const auto which = under_way.extract(done->sequence);
      ready.emplace(which.mapped(), std::move(done->outcome));
    } else {
      stage.tick();
    }
  }
}

}  // namespace warpath
