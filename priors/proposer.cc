#include <algorithm>
#include <cmath>
#include <numeric>

#include "priors/register_priors.h"

namespace warpath {
namespace {

double usable(double weight) { return std::isfinite(weight) && weight > 0 ? weight : 0.0; }

/// In proportion to the proposers' weights. A weight that is no positive number counts as 0; all such: uniform.
class ProposerPrior final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "proposer"; }
  void evaluate(const ProposalContext&, const std::vector<Proposal>& proposals, std::vector<double>& out) override {
    out.resize(proposals.size());
    if (proposals.empty()) return;
    std::transform(proposals.begin(), proposals.end(), out.begin(), [](const Proposal& p) { return usable(p.weight); });
    const double largest = *std::max_element(out.begin(), out.end());
    if (largest <= 0) {
      out.assign(out.size(), 1.0 / static_cast<double>(out.size()));
      return;
    }
    for (double& p : out) p /= largest;  // the sum of huge weights would overflow
    std::vector<double> sorted = out;    // a sum that no permutation of the proposals changes
    std::sort(sorted.begin(), sorted.end());
    const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
    for (double& p : out) p /= total;
  }
};

}  // namespace

void register_prior_proposer(PriorRegistry& registry) {
  registry.add("proposer", "in proportion to the weights that proposers give", [] { return std::make_unique<ProposerPrior>(); });
}

}  // namespace warpath
