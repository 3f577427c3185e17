#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/plugin/proposer.h"

namespace warpath {

/// An applicable instance of a move that satisfies the spec's constraints, and its result.
struct MoveOffer {
  MoveInstance instance;
  Made made;
  bool operator==(const MoveOffer&) const = default;
};

/// Applies `move` to the kernel; nullopt if it does not apply or violates a constraint of the spec.
[[nodiscard]] std::optional<Made> try_move(const Move& move,
                                           const MoveContext& at,
                                           const MoveInstance& instance);

/// A move that lists its applicable instances in one call: one in another process, which would
/// otherwise be called for each instance.
class OfferingMove : public Move {
 public:
  /// The instances from enumerate() that apply and satisfy the spec's constraints, in order.
  [[nodiscard]] virtual std::vector<MoveOffer> offers(const MoveContext& at) const = 0;
  /// The other process does.
  [[nodiscard]] bool makes_versions() const override { return true; }
};

/// The same for any move.
[[nodiscard]] std::vector<MoveOffer> offers(const Move& move, const MoveContext& at);

/// Proposes every enumerated instance of every registered move but those that polish that applies,
/// satisfies the spec's constraints and leads to a variant different from the node and from earlier
/// proposals.
///
/// Order and weights make widening go breadth-first over moves, then their sites, then parameters:
/// the k-th instance (k = 0, 1, ...) of a move at the site whose turn is j (drawn from the node's
/// stream) has weight 1 / ((j + 1) (k + 1)^2), times eight if the move is structural: of 27 builds
/// of a bf16 product, 22 had adjusted a kernel of 150 ms before the first tile. A move with a site
/// at every loop or argument thus gets little more than one with a single site: of 207 builds of a
/// softmax on a GPU 133 had been unroll pragmas at its loops. Proposals are sorted by weight, ties
/// in random order, so that no move is preferred for its name. Stateless after construction;
/// thread-safe.
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
