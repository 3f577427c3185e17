#include "priors/evidence/shares.h"
#include "register_priors.h"

namespace warpath {
namespace {

/// In proportion to the proposers' weights. A weight that is no positive number counts as 0; all
/// such: uniform.
class ProposerPrior final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "proposer"; }
  void evaluate(const ProposalContext&,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    proposer_shares(proposals, out);
  }
};

}  // namespace

void register_prior_proposer(PriorRegistry& registry) {
  registry.add("proposer", "in proportion to the weights that proposers give",
               [](const PriorConfig&) { return std::make_unique<ProposerPrior>(); });
}

}  // namespace warpath
