#include <map>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "priors/evidence/shares.h"
#include "priors/options.h"
#include "priors/tactics/gain_model.h"
#include "register_priors.h"

namespace warpath {
namespace {

/// The proposers' weights times the gain that a model trained on other kernels expects of each
/// proposal.
class LearnedPrior final : public Prior {
 public:
  /// Without a model the proposers' weights stand.
  LearnedPrior(const PriorOptions& options, std::optional<std::string> text)
      : options_(options), text_(std::move(text)) {
    if (text_) model_.emplace(GainModel::parse(*text_, std::string(kModelFile)));
  }

  [[nodiscard]] std::string_view name() const override { return "learned"; }
  [[nodiscard]] std::map<std::string, std::string> files() const override {
    std::map<std::string, std::string> out;
    if (text_) out.emplace(kModelFile, *text_);
    return out;
  }

  void evaluate(const ProposalContext& context,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    proposer_shares(proposals, out);
    std::vector<double> gains;
    if (proposals.empty() || !expected_gains(context, proposals, gains)) return;
    weigh_by_gains(gains, options_.min_pred_gain, options_.floor, out);
  }

  [[nodiscard]] bool expected_gains(const ProposalContext& context,
                                    const std::vector<Proposal>& proposals,
                                    std::vector<double>& out) override {
    if (!model_) return false;
    const NodeFeatures node(context);
    out.clear();
    for (const Proposal& p : proposals)
      out.push_back(model_->predict(node.of(p.instance)).expected);
    return true;
  }

 private:
  PriorOptions options_;
  std::optional<GainModel> model_;
  std::optional<std::string> text_;
};

}  // namespace

void register_prior_learned(PriorRegistry& registry) {
  registry.add(
      "learned",
      "the proposers' weights times the gain that a model trained on other kernels expects "
      "(prior.model; docs/priors.md)",
      [](const PriorConfig& config) {
        std::optional<std::string> text = config.read ? config.read(kModelFile) : std::nullopt;
        if (config.options != nullptr && !text)
          throw bad_input("prior.model", config.options->of<PriorOptions>().model,
                          "a file that `warpath train` wrote");
        return std::make_unique<LearnedPrior>(
            config.options != nullptr ? config.options->of<PriorOptions>() : PriorOptions{},
            std::move(text));
      },
      {&PriorOptions::kind()});
}

}  // namespace warpath
