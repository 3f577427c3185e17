#include "priors/tactics/move_evidence.h"

#include <algorithm>

#include "priors/evidence/rule_table.h"

namespace warpath {
namespace {

/// What a fully raised move gains over one that nothing speaks for, and loses over it.
constexpr double kMostRaise = 4;
constexpr double kMostLowering = 0.6;
/// A method's trigger speaks less clearly than a rule.
constexpr double kMethodWeight = 0.5;

}  // namespace

void Evidence::add(double share) {
  missing_ *= 1 - std::clamp(share, 0.0, 1.0);
}

MoveEvidence::MoveEvidence(const DiagnosisView& view) : gaps_(roofline_gaps(view)) {
  for (const Finding& finding : RuleTable::built_in().evaluate(view).fired) {
    for (const auto& [move, weight] : finding.rule->raises)
      raised_[move].add(finding.strength * weight);
    for (const auto& [move, weight] : finding.rule->lowers)
      lowered_[move].add(finding.strength * weight);
  }
  for (const Method& method : MethodRegistry::built_in().methods()) {
    const double strength = method.trigger_strength(view).value_or(0);
    for (const std::string& move : method.moves) raised_[move].add(kMethodWeight * strength);
  }
}

double MoveEvidence::value(const Map& map, std::string_view move) {
  const auto it = map.find(move);
  return it == map.end() ? 0 : it->second.value();
}

double MoveEvidence::axis(std::string_view move) const {
  double best = 0;
  for (const Axis each : MethodRegistry::built_in().axes_of(move))
    best = std::max(best, axis_factor(gaps_, each));
  return best;
}

double MoveEvidence::factor(std::string_view move) const {
  return axis(move) * (1 + (kMostRaise - 1) * raised(move)) * (1 - kMostLowering * lowered(move));
}

}  // namespace warpath
