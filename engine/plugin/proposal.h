#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/plugin/move_instance.h"
#include "engine/spec/variant.h"
#include "engine/spec/variant_patch.h"

namespace warpath {

/// What a move makes of a variant: a legal one that keeps the spec's constraints.
struct Made {
  Hash128 key;  ///< variant_key of the result
  VariantEdit edit;
  bool operator==(const Made&) const = default;
};

/// One suggested way to leave a node. Proposals of rules, language models and files are the same
/// record and pass the same gates.
struct Proposal {
  /// with `variant`: labels differ by the parameter "text" = low 63 bits of its key
  MoveInstance instance;
  /// relative preference of the proposer, > 0; priors start from it
  double weight = 1;
  std::string source = "rules";  ///< proposer's registered name
  /// whole variant of a foreign proposal, as records keep it
  std::optional<Variant> variant;
  double predicted_log_gain = 0;  ///< NaN-free; 0 if unknown
  std::string why;
  /// The result of the move, if it was already applied; not recorded. If both this and `variant`
  /// are missing, Move::apply is called when the search selects the proposal. Shared, because
  /// proposals are copied and sorted by the hundred.
  std::shared_ptr<const Made> made = nullptr;
};

/// What sources of a prior say of one proposal: P(s, a) by each times the number of proposals. 1:
/// as a uniform one.
using SourceShares = std::map<std::string, double, std::less<>>;

}  // namespace warpath
