#include "priors/evidence/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpath {

void normalise(std::vector<double>& p) {
  if (p.empty()) return;
  const double largest = *std::ranges::max_element(p);
  if (largest <= 0) {
    p.assign(p.size(), 1.0 / static_cast<double>(p.size()));
    return;
  }
  for (double& x : p) x /= largest;  // the sum of huge weights would overflow
  std::vector<double> sorted = p;
  std::ranges::sort(sorted);
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  for (double& x : p) x /= total;
}

void spread_evenly(std::vector<double>& p, double floor) {
  const double even = p.empty() ? 0 : floor / static_cast<double>(p.size());
  for (double& x : p) x = (1 - floor) * x + even;
}

void proposer_shares(const std::vector<Proposal>& proposals, std::vector<double>& out) {
  out.resize(proposals.size());
  std::ranges::transform(proposals, out.begin(), [](const Proposal& p) {
    return std::isfinite(p.weight) && p.weight > 0 ? p.weight : 0.0;
  });
  normalise(out);
}

void prune_softly(const std::vector<double>& gains, double least, std::vector<double>& p) {
  if (!(least > 0) || std::ranges::none_of(gains, [&](double gain) { return gain >= least; }))
    return;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (gains[i] < least) p[i] = 0;
  }
  normalise(p);
}

void weigh_by_gains(const std::vector<double>& gains,
                    double least_gain,
                    double floor,
                    std::vector<double>& p) {
  for (std::size_t i = 0; i < p.size(); ++i) p[i] *= gains[i];
  normalise(p);
  prune_softly(gains, least_gain, p);
  spread_evenly(p, floor);
}

}  // namespace warpath
