#include <algorithm>

#include "register_priors.h"

namespace warpath {
namespace {

/// Every proposal alike: the baseline of each comparison of priors.
class UniformPrior final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "uniform"; }
  void evaluate(const ProposalContext&,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    out.assign(proposals.size(),
               proposals.empty() ? 0.0 : 1.0 / static_cast<double>(proposals.size()));
  }
};

}  // namespace

void register_prior_uniform(PriorRegistry& registry) {
  registry.add("uniform", "every proposal alike",
               [](const PriorConfig&) { return std::make_unique<UniformPrior>(); });
}

}  // namespace warpath
