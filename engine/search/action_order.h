#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/ids.h"

namespace warpath {

/// The order in which each open node tries its actions: P(s,a) descending, ties by a permutation
/// that depends on (seed, node key) alone. Not part of a snapshot: a reopened node gets the same
/// order.
///
/// An order is a row of a flat pool, but up to kMostDerived equal priors, the usual case, are not
/// stored at all:
///
///   known_ [ 0 | 1 | 1 | 1 | 1 | ... ]                   by NodeId
///   row_   [ derived | derived | 0 | derived | 3 ]       by NodeId, to the last that is stored
///   pool_  [ (a2,.5) (a0,.3) (a1,.2) | (a1,.6) ... ]     (action, prior), best first
class ActionOrders {
 public:
  struct Choice {
    std::uint32_t action = 0;
    float prior = 0;
  };

  explicit ActionOrders(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] bool has(NodeId node) const {
    return index(node) < known_.size() && known_[index(node)];
  }
  /// `priors`: [actions of `node`], not negative.
  void set(NodeId node, const Hash128& key, std::span<const float> priors);
  /// The action to try after `rank` others; rank must be less than the number of priors given to
  /// set().
  [[nodiscard]] Choice at(NodeId node,
                          const Hash128& key,
                          std::uint32_t rank,
                          std::uint32_t count) const;
  /// P(s,a) of that action.
  [[nodiscard]] float prior(NodeId node, std::uint32_t rank, std::uint32_t count) const;

 private:
  static constexpr std::uint32_t kDerived = UINT32_MAX;
  static constexpr std::uint32_t kMostDerived = 64;

  [[nodiscard]] std::uint32_t row(NodeId node) const {
    return index(node) < row_.size() ? row_[index(node)] : kDerived;
  }
  [[nodiscard]] std::uint64_t tie_break(const Hash128& key, std::uint32_t action) const;

  std::uint64_t seed_;
  std::vector<bool> known_;
  std::vector<std::uint32_t> row_;
  std::vector<Choice> pool_;
};

}  // namespace warpath
