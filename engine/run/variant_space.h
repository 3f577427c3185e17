#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/search/search.h"

namespace warpath {

/// The space of a campaign: its nodes are variants of a kernel, made by moves. What a campaign asks
/// of it beside what its search does. Node 0 is where the search begins. One thread only.
class VariantSpace : public Space {
 public:
  [[nodiscard]] virtual std::uint32_t size() const = 0;  ///< nodes so far
  [[nodiscard]] virtual Hash128 key(NodeId node) const = 0;
  [[nodiscard]] virtual Variant variant(NodeId node) const = 0;
  // What created a node; the root has neither.
  [[nodiscard]] virtual NodeId parent(NodeId node) const = 0;
  [[nodiscard]] virtual MoveInstance instance(NodeId node) const = 0;
  [[nodiscard]] virtual std::string_view move(NodeId node) const = 0;    ///< of the instance
  [[nodiscard]] virtual std::string_view source(NodeId node) const = 0;  ///< its proposer
  [[nodiscard]] virtual bool structural(NodeId node) const = 0;          ///< Move::structural
  /// Of an action of a node that was opened in this process; a space that no record is kept of need
  /// not know.
  [[nodiscard]] virtual MoveInstance action(NodeId, std::uint32_t /*number*/) const { return {}; }

  // Inner tuning and late proposals.
  /// The numeric parameters of `instance` at `parent` and their values (Move::domain); empty for
  /// moves that are not known.
  [[nodiscard]] virtual std::vector<Tunable> domain(NodeId parent,
                                                    const MoveInstance& instance) const = 0;
  /// Has `search` dispatch what a proposal from elsewhere makes of `parent` (Search::graft), and
  /// keeps the new node; nullopt if it proves illegal or known, or changes nothing. `prior` is
  /// asked of what proves legal.
  [[nodiscard]] virtual std::optional<Dispatch> graft(Search& search,
                                                      NodeId parent,
                                                      const Proposal& proposal,
                                                      const std::function<float()>& prior) = 0;
  /// The largest prior of the actions of `node`; 0 if there are none.
  [[nodiscard]] virtual float largest_prior(NodeId node) = 0;

  // A prior that learns.
  /// Prior::shares of an action of `node`, which is open; empty for kJump and kGraft.
  [[nodiscard]] virtual SourceShares shares(NodeId, std::uint32_t /*action*/) { return {}; }
  /// What became of `node`: Trial::log_gain over its parent if it is ok.
  virtual void learn(NodeId, const SourceShares&, bool /*ok*/, double /*log_gain*/) {}

  /// Keeps the outcome, if the space has use for it: proposers and priors see that of the node they
  /// work on.
  virtual void set_outcome(NodeId, const Outcome&) {}
  /// Null: none is kept.
  [[nodiscard]] virtual const Outcome* outcome(NodeId) const { return nullptr; }
};

}  // namespace warpath
