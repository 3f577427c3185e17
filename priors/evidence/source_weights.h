#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plugin/move.h"

namespace warpath {

/// How far each source of a mixed prior is trusted. A source that gives a proposal s times what a
/// uniform prior gives claims s times the usual odds that it improves; each outcome charges the log
/// loss of that claim, and a source weighs exp(-rate * losses), of which a share is spread evenly
/// after each outcome, so that a source that was wrong for long can come back (fixed share,
/// Herbster and Warmuth 1998). The usual odds are those of the run so far.
class SourceWeights {
 public:
  /// Names distinct, at least one.
  SourceWeights(std::vector<std::string> names, double rate, double share);
  /// In the order of the names; sum 1.
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// `claims`: share by source, as it was when the proposal was chosen; a source that is not in it
  /// claims 1.
  void observe(const SourceShares& claims, bool improved);
  /// Chance of improvement that a claim stands for now.
  [[nodiscard]] double chance(double claim) const;

 private:
  std::vector<std::string> names_;
  std::vector<double> weights_;
  double rate_, share_;
  double improved_ = 1, others_ = 4;  // of ten moves two
};

}  // namespace warpath
