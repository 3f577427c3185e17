#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"

namespace warpath {

/// An instance that applies to a kernel and keeps the spec's constraints, and what it makes of it.
struct MoveOffer {
  MoveInstance instance;
  Made made;
  bool operator==(const MoveOffer&) const = default;
};

/// What `move` makes of the kernel; nullopt if it does not apply or breaks a constraint of the
/// spec.
[[nodiscard]] std::optional<Made> try_move(const Move& move,
                                           const MoveContext& at,
                                           const MoveInstance& instance);

/// A move that says in one answer what it offers: one that runs in another process, which would be
/// asked for each instance otherwise.
class OfferingMove : public Move {
 public:
  /// What enumerate() lists that applies and keeps the spec's constraints, in its order.
  [[nodiscard]] virtual std::vector<MoveOffer> offers(const MoveContext& at) const = 0;
};

/// The same of any move.
[[nodiscard]] std::vector<MoveOffer> offers(const Move& move, const MoveContext& at);

/// Proposes every enumerated instance of every registered move that applies, keeps the spec's
/// constraints and leads to a variant that neither the node itself nor an earlier proposal is.
///
/// Order and weight make widening go breadth-first over moves, then over their sites, then into
/// parameters: the k-th instance (k = 0, 1, ...) that a move lists at the site whose turn is j
/// (drawn from the node's stream) weighs 1 / ((j + 1) (k + 1)^2), eight times that if the move is
/// structural: of 27 builds of a bf16 product, 22 had adjusted a kernel of 150 ms before the first
/// tile. A move with a site at every loop or argument so gets little more than one with a single
/// site: of 207 builds of a softmax on a GPU 133 had been unroll pragmas at its loops. Proposals
/// are sorted by weight; equal weights stand in a drawn order, so that no move is preferred for its
/// name. Stateless after construction: may be shared by threads.
class RuleProposer final : public Proposer {
 public:
  explicit RuleProposer(const MoveRegistry& registry);
  ~RuleProposer() override;
  [[nodiscard]] std::string_view name() const override { return "rules"; }
  [[nodiscard]] std::vector<Proposal> propose(const ProposalContext& context, Rng& rng) override;

 private:
  [[nodiscard]] std::vector<std::vector<MoveOffer>> all_offers(const MoveContext& at) const;

  std::vector<std::unique_ptr<const Move>> moves_;  // in name order
};

}  // namespace warpath
