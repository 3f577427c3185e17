#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/plugin/proposer.h"
#include "priors/tactics/move_evidence.h"

namespace warpath {

/// Features of a proposal by name; absent ones are 0. All are of order 1.
using Features = std::vector<std::pair<std::string, double>>;

/// Features of a node's proposals before any is made: the node's diagnosis, facts, launch and path,
/// the move, its site and its parameters. Nothing of the child is used, nor the proposer's weight,
/// which is partly random.
class NodeFeatures {
 public:
  explicit NodeFeatures(const ProposalContext& context);
  /// In unspecified order; values of a repeated name add up.
  [[nodiscard]] Features of(const MoveInstance& instance) const;

 private:
  /// of the node; used alone and combined with the move
  std::vector<std::pair<std::string, double>> node_;
  Features alone_;  ///< of the node alone
  MoveEvidence evidence_;
  bool diagnosed_ = false;
  std::string from_;
  std::vector<std::string> before_;  ///< moves on the path
  double restructured_ = 0;          ///< number of structural ones among them
  double threads_ = 0;               ///< per block; 0 if unknown
};

}  // namespace warpath
