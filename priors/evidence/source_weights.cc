#include "priors/evidence/source_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"

namespace warpath {
namespace {

/// However sure a source is, it claims no more and no less.
constexpr double kMostClaim = 20, kLeastClaim = 0.05;

}  // namespace

SourceWeights::SourceWeights(std::vector<std::string> names, double rate, double share)
    : names_(std::move(names)),
      weights_(names_.size(), 1 / static_cast<double>(names_.size())),
      rate_(rate),
      share_(share) {
  WARPATH_CHECK(!names_.empty());
}

double SourceWeights::chance(double claim) const {
  const double odds = improved_ / others_ * std::clamp(claim, kLeastClaim, kMostClaim);
  return odds / (1 + odds);
}

void SourceWeights::observe(const SourceShares& claims, bool improved) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto claim = claims.find(names_[i]);
    const double p = chance(claim == claims.end() ? 1 : claim->second);
    weights_[i] *= std::pow(improved ? p : 1 - p, rate_);
  }
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  const double even = share_ / static_cast<double>(weights_.size());
  for (double& w : weights_)
    w = total > 0 ? (1 - share_) * w / total + even : 1 / static_cast<double>(weights_.size());
  (improved ? improved_ : others_) += 1;
}

}  // namespace warpath
