#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plugin/proposal.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// Trust in each source of a mixed prior. A source that gives a proposal s times its uniform
/// probability claims s times the usual odds of improvement; each outcome charges the log loss of
/// that claim. A source weighs exp(-rate * losses), of which a share is redistributed evenly after
/// each outcome, so that a source that was long wrong can recover (fixed share, Herbster and
/// Warmuth 1998). The usual odds are those of the run so far.
class SourceWeights {
 public:
  /// Names must be distinct; at least one.
  SourceWeights(std::vector<std::string> names, double rate, double share);
  /// In the order of the names; sum 1.
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// `claims`: share by source at the time the proposal was chosen; an absent source claims 1.
  void observe(const SourceShares& claims, bool improved);
  void keep(StrategyState& state) { state(weights_, improved_, others_); }
  /// Current chance of improvement for a claim.
  [[nodiscard]] double chance(double claim) const;

 private:
  std::vector<std::string> names_;
  std::vector<double> weights_;
  double rate_, share_;
  double improved_ = 1, others_ = 4;  // prior: two of ten moves
};

}  // namespace warpath
