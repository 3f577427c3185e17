#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "engine/search/strategy_state.h"
#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/embedded.h"
#include "priors/evidence/shares.h"
#include "priors/options.h"
#include "priors/tactics/draft_features.h"
#include "priors/tactics/gain_model.h"
#include "register_priors.h"

namespace warpath {
namespace {

/// Draft, then verify: `tactics`, and of its first proposals at the root, and at each node that is
/// better than the best before it by prior.draft_gain, what compiling their results tells. A model
/// trained on other kernels bounds the gain by the change of what is known without a launch (an
/// upper bound of a linear model, as LinUCB, Li et al. 2010); the weight of a proposal is
/// multiplied by e^(prior.draft_weight * bound). One that does not compile has the least bound of
/// all, one that was not drafted the mean of those that were. The same as `tactics` where nothing
/// can be drafted.
class DraftedPrior final : public Prior {
 public:
  DraftedPrior(const PriorOptions& options, std::string text, std::unique_ptr<Prior> base)
      : options_(options),
        text_(std::move(text)),
        model_(GainModel::parse(text_, std::string(kDraftModelFile))),
        base_(std::move(base)) {}

  [[nodiscard]] std::string_view name() const override { return "drafted"; }
  [[nodiscard]] bool pure() const override { return false; }
  [[nodiscard]] std::map<std::string, std::string> files() const override {
    std::map<std::string, std::string> out = base_->files();
    out.emplace(kDraftModelFile, text_);
    return out;
  }

  void evaluate(const ProposalContext& context,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    base_->evaluate(context, proposals, out);
    if (proposals.empty() || !context.drafts || context.outcome == nullptr ||
        !context.outcome->diagnosis)
      return;
    if (way_of(context) != best_way_) return;
    const std::vector<std::size_t> chosen = first(proposals, out);
    std::vector<const Proposal*> asked;
    for (const std::size_t i : chosen) asked.push_back(&proposals[i]);
    const auto drafts = context.drafts(asked);
    WARPATH_CHECK(drafts.size() == chosen.size());
    std::vector<std::optional<double>> gains(proposals.size());
    std::vector<double> known;
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      if (drafts[k] == nullptr) continue;
      gains[chosen[k]] = bound(model_.predict(
          draft_features(context.at.device, *context.outcome->diagnosis, *drafts[k])));
      known.push_back(*gains[chosen[k]]);
    }
    if (known.empty()) return;
    std::ranges::sort(known);  // the sum does not depend on the order of the proposals
    const double usual =
        std::accumulate(known.begin(), known.end(), 0.0) / static_cast<double>(known.size());
    for (const std::size_t i : chosen) gains[i] = gains[i].value_or(known.front());
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] *= std::exp(options_.draft_weight * (gains[i].value_or(usual) - known.back()));
    normalise(out);
    spread_evenly(out, options_.floor);
  }

  [[nodiscard]] SourceShares shares(const ProposalContext& context,
                                    const std::vector<Proposal>& proposals,
                                    std::size_t chosen) override {
    return base_->shares(context, proposals, chosen);
  }
  void observe(const Trial& trial) override {
    base_->observe(trial);
    const ProposalContext& from = trial.context;
    if (!trial.ok || from.outcome == nullptr || from.baseline == nullptr) return;
    const double start_ns = measured_time_ns(*from.baseline),
                 from_ns = measured_time_ns(*from.outcome);
    if (start_ns <= 0 || from_ns <= 0) return;
    const double gain = std::log(start_ns / from_ns) + trial.log_gain;
    if (gain <= best_gain_ + options_.draft_gain) return;
    best_gain_ = gain;
    best_way_ = way_of(from) + trial.instance.text() + "\n";
  }
  [[nodiscard]] std::string learned() const override {
    StrategyState state;
    double gain = best_gain_;
    std::string way = best_way_, base = base_->learned();
    state(gain, way, base);
    return state.take();
  }
  void relearn(std::string_view bytes, const std::string& place) override {
    StrategyState state(bytes, 0, place);
    std::string base;
    state(best_gain_, best_way_, base);
    state.require_end();
    base_->relearn(base, place);
  }
  [[nodiscard]] bool expected_gains(const ProposalContext& context,
                                    const std::vector<Proposal>& proposals,
                                    std::vector<double>& out) override {
    return base_->expected_gains(context, proposals, out);
  }

 private:
  /// The moves that made a node, one a line.
  [[nodiscard]] static std::string way_of(const ProposalContext& context) {
    std::string out;
    for (const MoveInstance* const step : context.path) out += step->text() + "\n";
    return out;
  }
  /// The mean and one deviation of the fit: what the other kernels tell nothing of may gain much.
  [[nodiscard]] double bound(const GainPrediction& gain) const {
    return gain.mean + std::sqrt(std::max(0.0, gain.variance - model_.parts().noise));
  }
  /// The proposals of greatest weight, ties by their keys.
  [[nodiscard]] std::vector<std::size_t> first(const std::vector<Proposal>& proposals,
                                               const std::vector<double>& weights) const {
    std::vector<std::size_t> order(proposals.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto most = static_cast<std::size_t>(options_.drafts);
    if (order.size() <= most) return order;
    std::vector<Hash128> keys;
    for (const Proposal& p : proposals) keys.push_back(p.instance.key());
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return weights[a] != weights[b] ? weights[a] > weights[b] : keys[a] < keys[b];
    });
    order.resize(most);
    return order;
  }

  PriorOptions options_;
  std::string text_;
  GainModel model_;
  std::unique_ptr<Prior> base_;
  // Of the latest node that was better than the one before it by draft_gain, at first the root:
  double best_gain_ = 0;  // ln(baseline / time)
  std::string best_way_;
};

}  // namespace

void register_prior_drafted(PriorRegistry& registry) {
  registry.add(
      "drafted",
      "tactics, times the gain that a model trained on other kernels expects of what compiling "
      "tells (prior.draft_model; docs/priors.md)",
      [](const PriorConfig& config) {
        std::optional<std::string> text = config.read ? config.read(kDraftModelFile) : std::nullopt;
        return std::make_unique<DraftedPrior>(
            config.options != nullptr ? config.options->of<PriorOptions>() : PriorOptions{},
            text ? *std::move(text) : std::string(embedded_draft_model().text),
            registered_priors().create("run.prior", "tactics", config));
      },
      {&PriorOptions::kind()});
}

}  // namespace warpath
