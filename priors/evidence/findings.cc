#include "priors/evidence/findings.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/base/format.h"
#include "priors/evidence/roofline.h"
#include "priors/evidence/rule_table.h"

namespace warpath {
namespace {

constexpr std::size_t kShownMoves = 4;

std::string gaps_line(const RooflineGaps& gaps) {
  const MethodBudget budget = method_budget(gaps);
  return format("bound: %s; gaps compute %.2f, memory %.2f, latency %.2f (%s); budget %d/%d/%d",
                std::string(bound_name(gaps)).c_str(), gaps.compute, gaps.memory, gaps.latency,
                std::string(name(gaps.source)).c_str(), budget.compute, budget.memory,
                budget.latency);
}

}  // namespace

std::string findings_text(const Outcome& outcome, const std::string& lead, std::size_t most) {
  std::string out;
  if (!outcome.diagnosis) return out;
  const DiagnosisView view(*outcome.diagnosis, measured_time_ns(outcome));
  const RooflineGaps gaps = roofline_gaps(view);
  if (gaps.known) out += lead + gaps_line(gaps) + "\n";
  const Findings findings = RuleTable::built_in().evaluate(view);
  for (std::size_t i = 0; i < std::min(most, findings.fired.size()); ++i) {
    const std::string moves = raised_moves_text(*findings.fired[i].rule, kShownMoves);
    out += lead + "finding: " + finding_text(findings.fired[i]) +
           (moves.empty() ? "" : "; try " + moves) + "\n";
  }
  return out;
}

nlohmann::json findings_json(const Outcome& outcome) {
  if (!outcome.diagnosis) return nullptr;
  const DiagnosisView view(*outcome.diagnosis, measured_time_ns(outcome));
  nlohmann::json out = nlohmann::json::array();
  for (const Finding& finding : RuleTable::built_in().evaluate(view).fired) {
    out.push_back({{"rule", finding.rule->id},
                   {"set", finding.rule->set},
                   {"severity", finding.severity},
                   {"strength", finding.strength}});
  }
  return out;
}

std::string unjudged_text(const Outcome& outcome, const std::string& lead) {
  std::string out;
  if (!outcome.diagnosis) return out;
  const DiagnosisView view(*outcome.diagnosis, measured_time_ns(outcome));
  std::map<std::string, std::string> rules;
  for (const auto& [rule, fact] : RuleTable::built_in().evaluate(view).unknown) {
    std::string& wanting = rules[fact];
    wanting += (wanting.empty() ? "" : ", ") + rule->id;
  }
  for (const auto& [fact, wanting] : rules)
    out += lead + "unavailable: " + fact + ", for " + wanting + "\n";
  return out;
}

}  // namespace warpath
