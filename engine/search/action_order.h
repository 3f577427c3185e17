#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/search/node_cache.h"

namespace warpath {

/// The order in which each open node tries its actions: P(s,a) descending, ties by a permutation
/// that depends on (seed, node key) alone. Not part of a snapshot: a reopened node gets the same
/// order.
///
/// Up to kMostDerived equal priors, the usual case, are not stored at all. Of other orders those
/// used lately are kept; a node whose order was dropped must be reopened as after a resume.
class ActionOrders {
 public:
  struct Choice {
    std::uint32_t action = 0;
    float prior = 0;
  };

  explicit ActionOrders(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] bool has(NodeId node) const { return derived(node) || stored_.find(node); }
  /// `priors`: [actions of `node`], not negative.
  void set(NodeId node, const Hash128& key, std::span<const float> priors);
  /// The action to try after `rank` others, of a node that has an order; rank must be less than the
  /// number of priors given to set().
  [[nodiscard]] Choice at(NodeId node,
                          const Hash128& key,
                          std::uint32_t rank,
                          std::uint32_t count) const;
  /// P(s,a) of that action.
  [[nodiscard]] float prior(NodeId node, std::uint32_t rank, std::uint32_t count) const;

 private:
  static constexpr std::uint32_t kMostDerived = 64;
  static constexpr std::size_t kMostStored = 500'000;  // actions

  [[nodiscard]] bool derived(NodeId node) const {
    return index(node) < derived_.size() && derived_[index(node)];
  }
  [[nodiscard]] std::uint64_t tie_break(const Hash128& key, std::uint32_t action) const;

  std::uint64_t seed_;
  std::vector<bool> derived_;                                         // by NodeId
  mutable NodeCache<const std::vector<Choice>> stored_{kMostStored};  // best first
};

}  // namespace warpath
