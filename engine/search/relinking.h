#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/rng.h"
#include "engine/search/change.h"
#include "engine/search/strategy.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// A node of the way to the best one, and the step that was made there; kNoEdge at its end.
struct WayStep {
  NodeId node = kNoNode;
  EdgeId made = kNoEdge;
};

/// The creators of `node` up to the root, itself first, without those whose step changed the reward
/// by no more than `margin`; the root stays.
[[nodiscard]] std::vector<WayStep> way_of(const Field& field, NodeId node, double margin);
/// What is changed from `way[at]` on, the last first.
[[nodiscard]] std::vector<Change> changes_from(Field& field,
                                               std::span<const WayStep> way,
                                               std::size_t at);

/// Path relinking (Glover 1996): a way is made again with another step of the same kind in the
/// place of one of its steps. What was best when it was chosen, a tile or a number of blocks, need
/// not be best with the steps that came after it. Not thread-safe.
class Relinking {
 public:
  /// One of the steps that are open at a node.
  struct Step {
    Change change;
    double gain = 0;  ///< known or expected
  };

  /// Over a way of one step or more, the last first; the first is replaced.
  void begin(std::vector<Change> way);
  [[nodiscard]] bool under_way() const { return replaces_ || !rest_.empty(); }
  /// Which of the `open` steps is next: first any of the kind of the one that is replaced, then the
  /// next of the way that there is, or else what is made at its place with other parameters. -1:
  /// none, and it is over.
  [[nodiscard]] std::ptrdiff_t next(std::span<const Step> open, Rng& rng);

  void keep(StrategyState& state) { state(replaces_, replaced_, rest_); }

 private:
  [[nodiscard]] std::ptrdiff_t instead(std::span<const Step> open, Rng& rng) const;

  bool replaces_ = false;  // the first step is to come
  Change replaced_;
  std::vector<Change> rest_;  // the last first
};

}  // namespace warpath
