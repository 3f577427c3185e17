#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "priors/register_priors.h"
#include "priors/roofline.h"
#include "priors/rule_table.h"

namespace warpath {
namespace {

/// What a fully raised move gains over one that nothing speaks for, and loses over it.
constexpr double kMostRaise = 4;
constexpr double kMostLowering = 0.6;
/// A method's trigger speaks less clearly than a rule.
constexpr double kMethodWeight = 0.5;
/// Share of the prior that is spread evenly, so that every legal move stays possible.
constexpr double kFloor = 0.1;

double usable(double weight) { return std::isfinite(weight) && weight > 0 ? weight : 0.0; }

/// Evidence that adds up without passing 1.
class Evidence {
 public:
  void add(double share) { missing_ *= 1 - std::clamp(share, 0.0, 1.0); }
  [[nodiscard]] double value() const { return 1 - missing_; }

 private:
  double missing_ = 1;
};

/// Factors by move of one diagnosis.
class MoveFactors {
 public:
  explicit MoveFactors(const DiagnosisView& view) : gaps_(roofline_gaps(view)) {
    for (const Finding& finding : RuleTable::built_in().evaluate(view).fired) {
      for (const auto& [move, weight] : finding.rule->raises) raised_[move].add(finding.strength * weight);
      for (const auto& [move, weight] : finding.rule->lowers) lowered_[move].add(finding.strength * weight);
    }
    for (const Method& method : MethodRegistry::built_in().methods()) {
      const double strength = method.trigger_strength(view).value_or(0);
      for (const std::string& move : method.moves) raised_[move].add(kMethodWeight * strength);
    }
  }

  [[nodiscard]] double of(const std::string& move) const {
    double axis = 0;
    for (const Axis each : MethodRegistry::built_in().axes_of(move)) axis = std::max(axis, axis_factor(gaps_, each));
    return axis * (1 + (kMostRaise - 1) * value(raised_, move)) * (1 - kMostLowering * value(lowered_, move));
  }

 private:
  using Map = std::map<std::string, Evidence, std::less<>>;
  static double value(const Map& map, const std::string& move) {
    const auto it = map.find(move);
    return it == map.end() ? 0 : it->second.value();
  }

  RooflineGaps gaps_;
  Map raised_, lowered_;
};

/// Scales `p` to sum 1 in an order that no permutation of it changes; uniform if nothing in it is positive.
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

/// The proposers' weights times what the diagnosis of the node says for a move: fired rules and triggered methods raise or lower
/// it, the method budget shares attention among the axes. Without a diagnosis: the proposers' weights. Every proposal keeps a floor.
class RulesPrior final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "rules"; }
  void evaluate(const ProposalContext& context, const std::vector<Proposal>& proposals, std::vector<double>& out) override {
    out.resize(proposals.size());
    if (proposals.empty()) return;
    std::ranges::transform(proposals, out.begin(), [](const Proposal& p) { return usable(p.weight); });
    normalise(out);
    if (context.outcome != nullptr && context.outcome->diagnosis) {
      const DiagnosisView view(*context.outcome->diagnosis, measured_time_ns(*context.outcome));
      const MoveFactors factors(view);
      std::map<std::string_view, double> by_move;
      for (const Proposal& p : proposals) by_move.try_emplace(p.instance.move, 0);
      for (auto& [move, factor] : by_move) factor = factors.of(std::string(move));
      for (std::size_t i = 0; i < out.size(); ++i) out[i] *= by_move.at(proposals[i].instance.move);
      normalise(out);
    }
    const double even = kFloor / static_cast<double>(out.size());
    for (double& p : out) p = (1 - kFloor) * p + even;
  }
};

}  // namespace

void register_prior_rules(PriorRegistry& registry) {
  registry.add("rules", "the proposers' weights times what the rule matrix and the method budget say of the node's diagnosis",
               [] { return std::make_unique<RulesPrior>(); });
}

}  // namespace warpath
