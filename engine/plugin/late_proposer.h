#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/plugin/proposer.h"

namespace warpath {

/// Parameter that distinguishes proposals with a variant of their own: low 63 bits of its key.
inline constexpr std::string_view kTextParameter = "text";
[[nodiscard]] inline std::int64_t text_parameter(const Variant& variant) {
  return static_cast<std::int64_t>(variant_key(variant).low & (~std::uint64_t{0} >> 1U));
}

/// A node offered to late proposers. References are valid during the call only.
struct Offer {
  const ProposalContext& context;
  /// proposals of the immediate proposers there, best first
  std::span<const Proposal> legal;
  double speedup = 1;       ///< of the node
  double best_speedup = 1;  ///< of the run so far
  std::uint64_t remaining_builds = 0;
};

/// The outcome of a variant, for proposers to learn from.
struct Lesson {
  Hash128 parent_key;
  Hash128 key;
  const MoveInstance& instance;
  const std::string& source;  ///< proposer
  const Variant& variant;
  const Outcome& outcome;
  double speedup = 0;  ///< against the baseline; 0 unless ok
  double parent_speedup = 0;
};

/// Proposals at one node, with their share of evaluations.
struct Arrival {
  Hash128 key;  ///< variant_key of the node
  /// maximum share of all evaluations while the search has others; 1: they go first
  double share = 1;
  /// another arrival for the node may follow: a resumed session offers it again
  bool more = false;
  std::vector<Proposal> proposals;  ///< may be empty, which records that the node was asked about
};

/// Proposes moves at nodes some time after they are offered: over a network, from a person. The
/// search does not wait for it; with `search.deterministic` it waits until nothing is in flight, so
/// that when answers enter depends on their contents alone. All calls come from the session's
/// thread and must not block.
class LateProposer {
 public:
  virtual ~LateProposer() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The search opened a node on which this proposer is not finished. Earlier sessions may have
  /// received part of its answers; repeated proposals are recognised and not evaluated twice.
  virtual void offer(const Offer& offer) = 0;
  /// False: it may propose at a node any number of times; repetitions are recognised and not
  /// evaluated twice.
  [[nodiscard]] virtual bool once() const { return true; }
  /// Nodes to offer at the start of a session, wherever the search is.
  [[nodiscard]] virtual std::vector<Hash128> wishes() const { return {}; }
  /// An outcome was applied. A resumed session first reports those of earlier sessions, in order.
  virtual void learn(const Lesson& lesson) = 0;
  /// Everything that arrived since the last call; once nothing is in flight, the order depends on
  /// the offers alone.
  [[nodiscard]] virtual std::vector<Arrival> take() = 0;
  /// True while more may arrive without another offer or outcome.
  [[nodiscard]] virtual bool waiting() = 0;
  /// No more answers are wanted. May be called at any time, repeatedly.
  virtual void close() = 0;
};

}  // namespace warpath
