#include "priors/evidence/shares.h"
#include "register_priors.h"

namespace warpath {
namespace {

/// The prior of proposers other than the rules: only their proposals, by weight. Without any it has
/// no opinion.
class ForeignPrior final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "foreign"; }
  void evaluate(const ProposalContext&,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    proposer_shares(proposals, out);
    double theirs = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (proposals[i].source == kRules) out[i] = 0;
      theirs += out[i];
    }
    if (!(theirs > 0)) out.assign(out.size(), 0);
    normalise(out);
  }

 private:
  static constexpr std::string_view kRules = "rules";
};

}  // namespace

void register_prior_foreign(PriorRegistry& registry) {
  registry.add("foreign",
               "proposals that do not come from rules, by their weight: a language model's, a "
               "file's; as a source of mix",
               [](const PriorConfig&) { return std::make_unique<ForeignPrior>(); });
}

}  // namespace warpath
