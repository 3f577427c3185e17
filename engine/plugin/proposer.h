#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/rng.h"
#include "engine/plugin/move.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/proposal.h"

namespace warpath {

struct ProposalContext {
  MoveContext at;
  Hash128 node_key;
  const Outcome* outcome = nullptr;  ///< of the node's own evaluation; null if unknown
  std::uint64_t seed = 0;
  const Outcome* baseline = nullptr;  ///< of the spec's own kernel; null if unknown
  /// the moves that made the node of it, first to last
  std::vector<const MoveInstance*> path = {};
  /// What compiling the results of these proposals tells, in their order: null where one does not
  /// compile or nothing is known. Empty: nothing can be drafted here
  std::function<std::vector<std::shared_ptr<const Diagnosis>>(std::span<const Proposal* const>)>
      drafts = {};
};

/// Suggests moves at a node. A pure function of the context for rule proposers; foreign ones are
/// recorded.
class Proposer {
 public:
  virtual ~Proposer() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// No two proposals with equal instances. `rng` is a stream of the node: hash(seed, "propose",
  /// node key).
  [[nodiscard]] virtual std::vector<Proposal> propose(const ProposalContext& context, Rng& rng) = 0;
  /// False (a language model, a file that may change): what it says is recorded, and read back on
  /// resume.
  [[nodiscard]] virtual bool pure() const { return true; }
};

}  // namespace warpath
