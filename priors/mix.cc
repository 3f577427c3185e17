#include <algorithm>
#include <deque>
#include <map>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "priors/evidence/shares.h"
#include "priors/evidence/source_weights.h"
#include "priors/options.h"
#include "priors/tactics/experience.h"
#include "register_priors.h"

namespace warpath {
namespace {

/// What sources said of nodes lately: at every outcome of a node each is asked again, and one that
/// does not learn says the same.
class Remembered {
 public:
  using Said = std::vector<std::vector<double>>;  // by source; empty: not asked
  Said& at(const ProposalContext& context,
           const std::vector<Proposal>& proposals,
           std::size_t sources) {
    Hasher key;
    key.add(context.node_key);
    for (const MoveInstance* const step : context.path) key.add(step->key());
    for (const Proposal& p : proposals) key.add(p.instance.key()).add(p.weight).add(p.source);
    const auto [it, fresh] = said_.try_emplace(key.digest(), sources);
    if (fresh) order_.push_back(it->first);
    if (order_.size() > kMost) {
      said_.erase(order_.front());
      order_.pop_front();
    }
    return it->second;
  }

 private:
  static constexpr std::size_t kMost = 2000;
  std::map<Hash128, Said> said_;
  std::deque<Hash128> order_;
};

/// Several priors, weighed by how well each told what improves in this run.
class MixedPrior final : public Prior {
 public:
  MixedPrior(const PriorOptions& options, std::vector<std::unique_ptr<Prior>> sources)
      : options_(options),
        sources_(std::move(sources)),
        trust_(names(sources_), options.rate, options.share) {}

  [[nodiscard]] std::string_view name() const override { return "mix"; }
  [[nodiscard]] bool pure() const override { return false; }
  [[nodiscard]] std::map<std::string, std::string> files() const override {
    std::map<std::string, std::string> out;
    for (const auto& source : sources_) out.merge(source->files());
    return out;
  }

  void evaluate(const ProposalContext& context,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    out.assign(proposals.size(), 0);
    if (proposals.empty()) return;
    const Remembered::Said& said = ask(context, proposals);
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += trust_.weights()[s] * said[s][i];
    }
    normalise(out);
    std::vector<double> gains;
    if (options_.min_pred_gain > 0 && expected_gains(context, proposals, gains))
      prune_softly(gains, options_.min_pred_gain, out);
    spread_evenly(out, options_.floor);
  }

  [[nodiscard]] SourceShares shares(const ProposalContext& context,
                                    const std::vector<Proposal>& proposals,
                                    std::size_t chosen) override {
    SourceShares out;
    const Remembered::Said& said = ask(context, proposals);
    for (std::size_t s = 0; s < sources_.size(); ++s)
      out.emplace(sources_[s]->name(), said[s][chosen] * static_cast<double>(proposals.size()));
    return out;
  }

  void observe(const Trial& trial) override {
    for (const auto& source : sources_) {
      if (!source->pure()) source->observe(trial);
    }
    if (!trial.shares.empty())
      trust_.observe(trial.shares, trial.ok && trial.log_gain >= kImproved);
  }

  [[nodiscard]] std::string learned() const override {
    StrategyState state;
    SourceWeights trust = trust_;
    state(trust);
    for (const auto& source : sources_) {
      std::string said = source->learned();
      state(said);
    }
    return state.take();
  }
  void relearn(std::string_view bytes, const std::string& place) override {
    StrategyState state(bytes, 0, place);
    state(trust_);
    for (const auto& source : sources_) {
      std::string said;
      state(said);
      source->relearn(said, place);
    }
    state.require_end();
  }

  /// By the sources that have an idea, as they are trusted.
  [[nodiscard]] bool expected_gains(const ProposalContext& context,
                                    const std::vector<Proposal>& proposals,
                                    std::vector<double>& out) override {
    out.assign(proposals.size(), 0);
    double trusted = 0;
    std::vector<double> gains;
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      if (!sources_[s]->expected_gains(context, proposals, gains)) continue;
      trusted += trust_.weights()[s];
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += trust_.weights()[s] * gains[i];
    }
    if (!(trusted > 0)) return false;
    for (double& gain : out) gain /= trusted;
    return true;
  }

 private:
  const Remembered::Said& ask(const ProposalContext& context,
                              const std::vector<Proposal>& proposals) {
    Remembered::Said& said = remembered_.at(context, proposals, sources_.size());
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      if (said[s].empty() || !sources_[s]->pure())
        sources_[s]->evaluate(context, proposals, said[s]);
    }
    return said;
  }

  static std::vector<std::string> names(const std::vector<std::unique_ptr<Prior>>& sources) {
    std::vector<std::string> out;
    for (const auto& source : sources) out.emplace_back(source->name());
    return out;
  }

  PriorOptions options_;
  std::vector<std::unique_ptr<Prior>> sources_;
  SourceWeights trust_;
  Remembered remembered_;
};

void check_sources(const Options& options) {
  for (const std::string& name : move_names(options.of<PriorOptions>().sources)) {
    if (name == "mix" || !registered_priors().contains(name))
      throw bad_input("prior.sources", name, "priors but mix: of " + registered_priors().names());
  }
}

std::unique_ptr<Prior> make_mix(const PriorConfig& config) {
  const PriorOptions options =
      config.options != nullptr ? config.options->of<PriorOptions>() : PriorOptions{};
  if (config.options != nullptr) check_sources(*config.options);
  std::vector<std::unique_ptr<Prior>> sources;
  for (const std::string& name : move_names(options.sources)) {
    // nothing was learned yet
    if (name == "learned" && !(config.read && config.read(kModelFile))) continue;
    sources.push_back(registered_priors().create("prior.sources", name, config));
  }
  if (sources.empty())
    throw bad_input("prior.sources", options.sources,
                    "one of " + registered_priors().names() + ", or several with commas between");
  return std::make_unique<MixedPrior>(options, std::move(sources));
}

}  // namespace

void register_prior_mix(PriorRegistry& registry) {
  registry.add("mix",
               "the priors of prior.sources, weighed by how well each told what improves in this "
               "run (docs/priors.md)",
               make_mix, {&PriorOptions::kind()}, check_sources);
}

}  // namespace warpath
