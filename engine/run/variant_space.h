#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/plugin/proposal.h"
#include "engine/search/search.h"

namespace warpath {

/// What a move changes: all of it, its name and place, its name.
[[nodiscard]] inline Change change_of(const MoveInstance& instance) {
  return {.label = instance.key().low,
          .site = hash128(instance.move + "@" + instance.site).low,
          .family = hash128(instance.move).low};
}

/// The space of a campaign: its nodes are variants of a kernel, made by moves. Adds what a campaign
/// needs beyond its search. Node 0 is the start of the search. Not thread-safe.
class VariantSpace : public Space {
 public:
  [[nodiscard]] virtual std::uint32_t size() const = 0;  ///< nodes so far
  [[nodiscard]] virtual Hash128 key(NodeId node) const = 0;
  [[nodiscard]] virtual Variant variant(NodeId node) const = 0;
  // What created a node; the root has none of these.
  [[nodiscard]] virtual NodeId parent(NodeId node) const = 0;
  [[nodiscard]] virtual MoveInstance instance(NodeId node) const = 0;
  [[nodiscard]] virtual std::string_view move(NodeId node) const = 0;    ///< of the instance
  [[nodiscard]] virtual std::string_view source(NodeId node) const = 0;  ///< its proposer
  [[nodiscard]] virtual bool structural(NodeId node) const = 0;          ///< Move::structural
  /// An action of a node that was opened in this process; may be empty for a space whose runs are
  /// not recorded.
  [[nodiscard]] virtual MoveInstance action(NodeId, std::uint32_t /*number*/) const { return {}; }

  // Inner tuning and late proposals.
  /// The numeric parameters of `instance` at `parent` and their values (Move::domain); empty for
  /// unknown moves.
  [[nodiscard]] virtual std::vector<Tunable> domain(NodeId parent,
                                                    const MoveInstance& instance) const = 0;
  /// Has `search` dispatch the result of an external proposal at `parent` (Search::graft), and
  /// stores the new node; nullopt if it is illegal, known, or changes nothing. `prior` is called
  /// for legal results.
  [[nodiscard]] virtual std::optional<Dispatch> graft(Search& search,
                                                      NodeId parent,
                                                      const Proposal& proposal,
                                                      const std::function<float()>& prior) = 0;
  /// The largest prior of the actions of `node`; 0 if there are none.
  [[nodiscard]] virtual float largest_prior(NodeId node) = 0;

  /// What the moves that polish (Move::polishes) offer at a measured node.
  [[nodiscard]] virtual std::vector<MoveInstance> polishing(NodeId) const { return {}; }

  // For a prior that learns.
  /// Prior::shares of an action of `node`, which is open; empty for kJump and kGraft.
  [[nodiscard]] virtual SourceShares shares(NodeId, std::uint32_t /*action*/) { return {}; }
  /// The result of `node`: Trial::log_gain over its parent if ok.
  virtual void learn(NodeId, const SourceShares&, bool /*ok*/, double /*log_gain*/) {}

  /// Stores the outcome if the space needs it: proposers and priors see that of the node they work
  /// on.
  virtual void set_outcome(NodeId, const Outcome&) {}
  /// Null: none is stored.
  [[nodiscard]] virtual std::shared_ptr<const Outcome> outcome(NodeId) const { return nullptr; }
};

}  // namespace warpath
