#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "priors/evidence/diagnosis_view.h"

namespace warpath {

/// What a kernel lacks.
enum class Axis { compute, memory, latency };
[[nodiscard]] std::string_view name(Axis axis);

/// One side of a threshold. Holds for a value >= `above`, or < `below`; the severity grows from 0
/// there to 1 at `full`.
struct RuleCondition {
  std::string fact;
  std::optional<double> above, below;  ///< exactly one
  double full = 0;
  bool if_known = false;  ///< an unknown fact does not prevent judging the rule
  [[nodiscard]] double threshold() const { return above ? *above : below.value_or(0); }
  [[nodiscard]] bool holds(double value) const { return above ? value >= *above : value < *below; }
  /// In [0, 1]; 1 if `full` is the threshold. `value` must satisfy the condition.
  [[nodiscard]] double severity(double value) const;
};

/// One interpretation of a diagnosis: conditions that must all hold, and the moves worth trying
/// then.
struct Rule {
  std::string id;
  std::string set;  ///< "matrix": one of the nineteen; "report": a pattern of reports
  Axis axis = Axis::latency;
  std::string signal;  ///< one line of text
  std::vector<RuleCondition> all;
  /// weak by itself: counts half beside a fired rule that is not composite
  bool composite = false;
  bool needs_other = false;  ///< does not fire alone
  /// rules of which this one is a symptom: counts half if one of them fired
  std::vector<std::string> explained_by;
  bool stop = false;                     ///< advises stopping rather than a move
  std::map<std::string, double> raises;  ///< move to weight in (0, 1]
  std::map<std::string, double> lowers;  ///< the same for moves that make it worse
  std::vector<std::string> wants;        ///< remedies that no move implements yet
  /// text of priors/skills/<id>.md; empty if there is none
  std::string skill;
};

/// A condition with the value it was judged by.
struct RuleReading {
  const RuleCondition* condition = nullptr;
  Fact fact;
};

/// A rule that fired.
struct Finding {
  const Rule* rule = nullptr;
  double severity = 0;  ///< of its weakest condition, 0 to 1
  /// weight, 0 to 1: severity, confidence in its facts, composite or not
  double strength = 0;
  std::vector<RuleReading> readings;
};

struct Findings {
  std::vector<Finding> fired;  ///< strongest first, then by id
  /// rules for which a fact is missing, with its name
  std::vector<std::pair<const Rule*, std::string>> unknown;
};

/// The rule matrix (priors/rules/matrix.json). Immutable; thread-safe.
class RuleTable {
 public:
  /// Throws Error(bad_input) naming `file` and place if the text is not a table of rules. `skills`:
  /// rule id to text.
  [[nodiscard]] static RuleTable parse(std::string_view text,
                                       const std::string& file,
                                       const std::map<std::string, std::string>& skills = {});
  /// The one built into the program.
  [[nodiscard]] static const RuleTable& built_in();

  [[nodiscard]] std::span<const Rule> rules() const { return rules_; }
  [[nodiscard]] const Rule* find(std::string_view id) const;  ///< nullptr if absent

  /// Findings refer to this table.
  [[nodiscard]] Findings evaluate(const DiagnosisView& view) const;

 private:
  std::vector<Rule> rules_;
};

/// "severe_memory_bound 0.82: dram_utilisation 0.93 (measured, from 0.8), dram_over_sm 0.41
/// (measured, from 0.1)"
[[nodiscard]] std::string finding_text(const Finding& finding);
/// The moves that a rule raises, by falling weight, at most `most`: "coalesce_remap,
/// smem_tile_stage".
[[nodiscard]] std::string raised_moves_text(const Rule& rule, std::size_t most);

}  // namespace warpath
