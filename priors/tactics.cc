#include <algorithm>
#include <cmath>
#include <map>

#include "engine/plugin/options.h"
#include "priors/evidence/shares.h"
#include "priors/options.h"
#include "priors/tactics/tactic_graph.h"
#include "register_priors.h"

namespace warpath {
namespace {

/// Moves that failed, each with its site and parameters, by context; a failure fades as more is
/// tried in the same context, and counts for nothing where the bottleneck or the move before is
/// another. One that has faded to less than the precision of 1 + weight is forgotten.
class Failures {
 public:
  explicit Failures(double half_life) : half_life_(half_life) {}

  void add(const std::string& context, const std::string& instance, bool failed) {
    Context& c = contexts_[context];
    ++c.outcomes;
    if (std::fmod(c.outcomes, std::ceil(kHalvings * half_life_)) == 0)
      std::erase_if(c.failures, [&](const auto& f) { return weight(c, f.second) < kLeast; });
    if (!failed) return;
    Failure& f = c.failures[instance];
    f.weight = weight(c, f) + 1;
    f.at = c.outcomes;
  }

  void keep(StrategyState& state) { state(contexts_); }

  [[nodiscard]] double weight(const std::string& context, const std::string& instance) const {
    const auto it = contexts_.find(context);
    if (it == contexts_.end()) return 0;
    const auto found = it->second.failures.find(instance);
    return found == it->second.failures.end() ? 0 : weight(it->second, found->second);
  }

 private:
  struct Failure {
    double weight = 0;
    double at = 0;  // outcomes of its context by then
    void keep(StrategyState& state) { state(weight, at); }
  };
  struct Context {
    double outcomes = 0;
    std::map<std::string, Failure> failures;
    void keep(StrategyState& state) { state(outcomes, failures); }
  };
  [[nodiscard]] double weight(const Context& c, const Failure& f) const {
    return f.weight * std::exp2((f.at - c.outcomes) / half_life_);
  }

  static constexpr double kHalvings = 64, kLeast = 0x1p-60;

  double half_life_;
  std::map<std::string, Context> contexts_;
};

/// The proposers' weights times what the tactic graph expects of each move after the one that made
/// the node.
class TacticsPrior final : public Prior {
 public:
  TacticsPrior(const PriorOptions& options, std::optional<std::string> text)
      : options_(options), failures_(options.half_life), text_(std::move(text)) {
    if (text_) before_ = TacticGraph::parse(*text_, std::string(kTacticGraphFile));
  }

  [[nodiscard]] std::string_view name() const override { return "tactics"; }
  [[nodiscard]] bool pure() const override { return false; }
  [[nodiscard]] std::map<std::string, std::string> files() const override {
    std::map<std::string, std::string> out;
    if (text_) out.emplace(kTacticGraphFile, *text_);
    return out;
  }

  void evaluate(const ProposalContext& context,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    proposer_shares(proposals, out);
    if (proposals.empty()) return;
    std::vector<double> gains;
    static_cast<void>(expected_gains(context, proposals, gains));
    weigh_by_gains(gains, options_.min_pred_gain, options_.floor, out);
  }

  [[nodiscard]] bool expected_gains(const ProposalContext& context,
                                    const std::vector<Proposal>& proposals,
                                    std::vector<double>& out) override {
    const TacticGraph::Edge at{tactic_context(context), std::string(came_from(context)), ""};
    std::map<std::string_view, double> by_move;
    out.resize(proposals.size());
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      const MoveInstance& instance = proposals[i].instance;
      const auto [it, fresh] = by_move.try_emplace(instance.move, 0);
      if (fresh) it->second = before_.believe({at.context, at.from, instance.move}, now_).expected;
      out[i] =
          it->second * std::exp2(-failures_.weight(at.context + " " + at.from, instance.text()));
    }
    return true;
  }

  void observe(const Trial& trial) override {
    const std::string context = tactic_context(trial.context), from(came_from(trial.context));
    now_.add({context, from, trial.instance.move}, trial.ok, trial.log_gain);
    failures_.add(context + " " + from, trial.instance.text(),
                  !trial.ok || trial.log_gain < -kImproved);
  }

  [[nodiscard]] std::string learned() const override {
    StrategyState state;
    TacticGraph now = now_;
    Failures failures = failures_;
    state(now, failures);
    return state.take();
  }
  void relearn(std::string_view bytes, const std::string& place) override {
    StrategyState state(bytes, 0, place);
    state(now_, failures_);
    state.require_end();
  }

 private:
  PriorOptions options_;
  TacticGraph before_, now_;  // of other runs, of this one
  Failures failures_;
  std::optional<std::string> text_;
};

}  // namespace

void register_prior_tactics(PriorRegistry& registry) {
  registry.add(
      "tactics",
      "the proposers' weights times what a move gave after the one before it, in this "
      "context, in this and other runs (docs/priors.md)",
      [](const PriorConfig& config) {
        return std::make_unique<TacticsPrior>(
            config.options != nullptr ? config.options->of<PriorOptions>() : PriorOptions{},
            config.read ? config.read(kTacticGraphFile) : std::nullopt);
      },
      {&PriorOptions::kind()});
}

}  // namespace warpath
