#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/plugin/move.h"
#include "priors/tactics/move_evidence.h"

namespace warpath {

/// Numbers of a proposal by name; what is not named is 0. All are of the order of 1.
using Features = std::vector<std::pair<std::string, double>>;

/// What is known of a node's proposals before any of them is made: the node's diagnosis, facts,
/// launch and path, the move, its site and its parameters. Nothing of the child enters; neither
/// does the proposer's weight, part of which is drawn.
class NodeFeatures {
 public:
  explicit NodeFeatures(const ProposalContext& context);
  /// Names in no order; a name may stand twice (its values add up).
  [[nodiscard]] Features of(const MoveInstance& instance) const;

 private:
  /// of the node alone, also in combination with the move
  std::vector<std::pair<std::string, double>> node_;
  Features alone_;  ///< of the node alone
  MoveEvidence evidence_;
  bool diagnosed_ = false;
  std::string from_;
  std::vector<std::string> before_;  ///< moves on the path
  double restructured_ = 0;          ///< structural ones of them
  double threads_ = 0;               ///< of a block; 0 if unknown
};

}  // namespace warpath
