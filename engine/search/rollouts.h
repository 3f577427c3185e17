#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "engine/base/ids.h"
#include "engine/plugin/options.h"

namespace warpath {

/// Who is owed the next step of a roll-out: a leaf that selection led to and that came back ok is
/// followed for `rollout_steps` moves, each evaluated like any other variant. A failure ends it.
class Rollouts {
 public:
  struct Waiting {
    NodeId node = kNoNode;
    int left = 0;  ///< steps from here
  };

  explicit Rollouts(const SearchOptions& options) : steps_(options.rollout_steps) {}

  [[nodiscard]] bool enabled() const { return steps_ > 0; }
  /// The dispatch `sequence` is of a leaf that selection led to.
  void begin(std::uint64_t sequence) {
    if (enabled()) under_way_[sequence] = steps_;
  }
  /// It is a step with so many left, itself included.
  void step(std::uint64_t sequence, int left) { under_way_[sequence] = left - 1; }
  void complete(std::uint64_t sequence, NodeId node, bool ok) {
    const auto done = under_way_.extract(sequence);
    if (ok && !done.empty() && done.mapped() > 0) waiting_.push_back({node, done.mapped()});
  }
  /// Takes the one that waits longest.
  [[nodiscard]] std::optional<Waiting> next() {
    if (waiting_.empty()) return std::nullopt;
    const Waiting out = waiting_.front();
    waiting_.pop_front();
    return out;
  }

 private:
  int steps_;
  std::map<std::uint64_t, int> under_way_;  // steps that follow, by sequence
  std::deque<Waiting> waiting_;
};

}  // namespace warpath
