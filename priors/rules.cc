#include <map>

#include "priors/evidence/shares.h"
#include "priors/tactics/move_evidence.h"
#include "register_priors.h"

namespace warpath {
namespace {

/// Share of the prior that is spread evenly, so that every legal move stays possible.
constexpr double kFloor = 0.1;

/// The proposers' weights times what the diagnosis of the node says for a move: fired rules and
/// triggered methods raise or lower it, the method budget shares attention among the axes. Without
/// a diagnosis: the proposers' weights. Every proposal keeps a floor.
class RulesPrior final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "rules"; }
  void evaluate(const ProposalContext& context,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    proposer_shares(proposals, out);
    if (proposals.empty()) return;
    if (context.outcome != nullptr && context.outcome->diagnosis) {
      const DiagnosisView view(*context.outcome->diagnosis, measured_time_ns(*context.outcome));
      const MoveEvidence evidence(view);
      std::map<std::string_view, double> by_move;
      for (const Proposal& p : proposals) by_move.try_emplace(p.instance.move, 0);
      for (auto& [move, factor] : by_move) factor = evidence.factor(move);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] *= by_move.at(proposals[i].instance.move);
      normalise(out);
    }
    spread_evenly(out, kFloor);
  }
};

}  // namespace

void register_prior_rules(PriorRegistry& registry) {
  registry.add("rules",
               "the proposers' weights times what the rule matrix and the method budget say of the "
               "node's diagnosis",
               [](const PriorConfig&) { return std::make_unique<RulesPrior>(); });
}

}  // namespace warpath
