#include "runners/replay/virtual_evaluator.h"

#include <algorithm>
#include <utility>

namespace warpath {

VirtualEvaluator::VirtualEvaluator(int devices, Serve serve)
    : devices_(std::max(devices, 1)), serve_(std::move(serve)) {}

/// Equal times: in order of submission.
bool VirtualEvaluator::later(const Flight& a, const Flight& b) {
  return a.lands_at != b.lands_at ? a.lands_at > b.lands_at
                                  : a.completion.sequence > b.completion.sequence;
}

void VirtualEvaluator::submit(Submission submission) {
  double begins = now_;
  if (busy_.size() == static_cast<std::size_t>(devices_)) {
    begins = std::max(begins, busy_.top());
    busy_.pop();
  }
  Outcome outcome = serve_(submission);
  const double lands_at = begins + outcome.compile_seconds + outcome.run_seconds;
  busy_.push(lands_at);
  flights_.push_back({lands_at, {submission.sequence, std::move(outcome)}});
  std::ranges::push_heap(flights_, later);
}

std::optional<Completion> VirtualEvaluator::wait(std::chrono::milliseconds) {
  if (flights_.empty()) return std::nullopt;
  std::ranges::pop_heap(flights_, later);
  now_ = std::max(now_, flights_.back().lands_at);
  Completion done = std::move(flights_.back().completion);
  flights_.pop_back();
  return done;
}

void VirtualEvaluator::cancel() {
  flights_.clear();
}

}  // namespace warpath
