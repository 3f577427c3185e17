#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/plugin/outcome.h"

namespace warpath {

/// Parameter that tells apart proposals which bring their variant: low 63 bits of its key.
inline constexpr std::string_view kTextParameter = "text";
[[nodiscard]] inline std::int64_t text_parameter(const Variant& variant) {
  return static_cast<std::int64_t>(variant_key(variant).low & (~std::uint64_t{0} >> 1U));
}

/// A node that a late proposer may be asked about. References outlive the call only.
struct Offer {
  const ProposalContext& context;
  /// what the proposers that answer at once said there, best first
  std::span<const Proposal> legal;
  double speedup = 1;       ///< of the node
  double best_speedup = 1;  ///< of the run so far
  std::uint64_t remaining_builds = 0;
};

/// What became of a variant, for whoever proposes the next one.
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

/// Proposals at one node, with the evaluations that they may take.
struct Arrival {
  Hash128 key;  ///< variant_key of the node
  /// most of all evaluations that they may take as long as the search has others; 1: they go first
  double share = 1;
  /// another arrival about the node may follow: a resumed session offers it again
  bool more = false;
  std::vector<Proposal> proposals;  ///< may be empty: the node was asked about
};

/// Suggests moves at nodes some time after it learned of them: over a network, from a person. The
/// search never waits for it; with `search.deterministic` it waits until nothing is under way, so
/// that the answers enter at places that depend on their contents alone. All calls come from the
/// session's thread, and none blocks.
class LateProposer {
 public:
  virtual ~LateProposer() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The search opened a node about which this proposer has not said everything yet. Sessions
  /// before may have heard a part of it: what is repeated is known and not evaluated twice.
  virtual void offer(const Offer& offer) = 0;
  /// False: it may speak about a node again and again; what it repeats is known and not evaluated
  /// twice.
  [[nodiscard]] virtual bool once() const { return true; }
  /// Nodes that are to be offered at the start of a session, wherever the search is.
  [[nodiscard]] virtual std::vector<Hash128> wishes() const { return {}; }
  /// An outcome was applied. A resumed session tells those of the sessions before as well, first of
  /// all and in their order.
  virtual void learn(const Lesson& lesson) = 0;
  /// What has come since the last call, in an order that depends on the offers alone once nothing
  /// is under way.
  [[nodiscard]] virtual std::vector<Arrival> take() = 0;
  /// True while something may still come without another offer or outcome.
  [[nodiscard]] virtual bool waiting() = 0;
  /// Nothing more is wanted. May be called at any time, and twice.
  virtual void close() = 0;
};

}  // namespace warpath
