#include "priors/evidence/rule_table.h"

#include <algorithm>
#include <set>

#include "engine/base/format.h"
#include "priors/evidence/axis_json.h"
#include "priors/evidence/embedded.h"

namespace warpath {

template <>
struct Description<RuleCondition> {
  static constexpr std::string_view title = "condition";
  static constexpr std::string_view help = "one side of a threshold on a fact";
  template <class V>
  static void fields(V& v) {
    using T = RuleCondition;
    v(&T::fact, KeyText{"fact", "recorded or derived fact", true});
    v(&T::above, KeyText{"above", "holds from here up"});
    v(&T::below, KeyText{"below", "holds below this"});
    v(&T::full, KeyText{"full", "value of severity 1", true});
    v(&T::if_known, KeyText{"if_known", "an unknown fact does not matter"});
  }
};

template <>
struct Description<Rule> {
  static constexpr std::string_view title = "rule";
  static constexpr std::string_view help = "a reading of a diagnosis and the moves it raises";
  template <class V>
  static void fields(V& v) {
    using T = Rule;
    v(&T::id, KeyText{"id", "name", true});
    v(&T::set, KeyText{"set", "matrix or report", true});
    v(&T::axis, KeyText{"axis", "what is short", true});
    v(&T::signal, KeyText{"signal", "one line", true});
    v(&T::all, KeyText{"all", "conditions that all hold", true});
    v(&T::composite, KeyText{"composite", "counts half beside others"});
    v(&T::needs_other, KeyText{"needs_other", "does not fire alone"});
    v(&T::explained_by,
      KeyText{"explained_by", "rules of which it is a symptom: counts half beside them"});
    v(&T::stop, KeyText{"stop", "advises to stop"});
    v(&T::raises, KeyText{"raises", "moves to try, with weights", true});
    v(&T::lowers, KeyText{"lowers", "moves that make it worse"});
    v(&T::wants, KeyText{"wants", "remedies without a move"});
  }
};

namespace {

/// The weight of a rule that barely fires, relative to a full one.
constexpr double kStrengthAtThreshold = 0.25;
constexpr double kCompositeShare = 0.5;
constexpr double kSymptomShare = 0.5;

void check_weights(const std::map<std::string, double>& weights, const JsonCursor& at) {
  for (const auto& [move, weight] : weights) {
    if (!(weight > 0 && weight <= 1)) at.at(move).fail("a weight above 0, at most 1");
  }
}

void check_rule(const Rule& rule, const JsonCursor& at) {
  if (rule.set != "matrix" && rule.set != "report") at.at("set").fail("matrix or report");
  if (rule.all.empty()) at.at("all").fail("at least one condition");
  for (std::size_t i = 0; i < rule.all.size(); ++i) {
    const RuleCondition& c = rule.all[i];
    const JsonCursor place = at.at("all").element(i);
    if (c.above.has_value() == c.below.has_value()) place.fail("exactly one of above and below");
    if (c.above ? c.full < *c.above : c.full > *c.below)
      place.at("full").fail("a value on the side that holds");
  }
  if (std::ranges::all_of(rule.all, &RuleCondition::if_known))
    at.at("all").fail("a condition without if_known");
  check_weights(rule.raises, at.at("raises"));
  if (!rule.lowers.empty()) check_weights(rule.lowers, at.at("lowers"));
}

/// nullopt if the rule does not fire; `missing` names the fact that keeps it from being judged.
std::optional<Finding> judge(const Rule& rule, const DiagnosisView& view, std::string& missing) {
  Finding finding{.rule = &rule, .severity = 1, .strength = 1, .readings = {}};
  FactSource weakest = FactSource::measured;
  for (const RuleCondition& condition : rule.all) {
    const auto fact = view.get(condition.fact);
    if (!fact) {
      if (!condition.if_known && missing.empty()) missing = condition.fact;
      continue;
    }
    if (!condition.holds(fact->value)) {
      missing.clear();
      return std::nullopt;
    }
    weakest = weaker(weakest, fact->source);
    finding.severity = std::min(finding.severity, condition.severity(fact->value));
    finding.readings.push_back({&condition, *fact});
  }
  if (!missing.empty()) return std::nullopt;
  finding.strength =
      (kStrengthAtThreshold + (1 - kStrengthAtThreshold) * finding.severity) * confidence(weakest);
  return finding;
}

}  // namespace

std::string_view name(Axis axis) {
  return EnumWords<Axis>::rows[static_cast<std::size_t>(axis)].first;
}

double RuleCondition::severity(double value) const {
  const double span = full - threshold();
  return span == 0 ? 1 : std::clamp((value - threshold()) / span, 0.0, 1.0);
}

RuleTable RuleTable::parse(std::string_view text,
                           const std::string& file,
                           const std::map<std::string, std::string>& skills) {
  const nlohmann::json document = parse_json(text, file);
  const JsonCursor root(document, file);
  root.require_object();
  const JsonCursor list = root.at("rules");
  RuleTable table;
  Codec<std::vector<Rule>>::read(list, table.rules_);
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < table.rules_.size(); ++i) {
    Rule& rule = table.rules_[i];
    check_rule(rule, list.element(i));
    if (!seen.insert(rule.id).second) list.element(i).at("id").fail("an id that no other rule has");
    if (const auto skill = skills.find(rule.id); skill != skills.end()) rule.skill = skill->second;
  }
  for (std::size_t i = 0; i < table.rules_.size(); ++i) {
    const Rule& rule = table.rules_[i];
    for (std::size_t k = 0; k < rule.explained_by.size(); ++k) {
      if (!seen.contains(rule.explained_by[k]) || rule.explained_by[k] == rule.id)
        list.element(i).at("explained_by").element(k).fail("the id of another rule");
    }
  }
  return table;
}

const RuleTable& RuleTable::built_in() {
  static const RuleTable kTable = [] {
    std::map<std::string, std::string> skills;
    for (const EmbeddedText& text : embedded_skills()) skills.emplace(text.name, text.text);
    return parse(embedded_rules().text, std::string(embedded_rules().name), skills);
  }();
  return kTable;
}

const Rule* RuleTable::find(std::string_view id) const {
  const auto it = std::ranges::find(rules_, id, &Rule::id);
  return it == rules_.end() ? nullptr : &*it;
}

Findings RuleTable::evaluate(const DiagnosisView& view) const {
  Findings out;
  for (const Rule& rule : rules_) {
    std::string missing;
    if (auto finding = judge(rule, view, missing)) {
      out.fired.push_back(std::move(*finding));
    } else if (!missing.empty()) {
      out.unknown.emplace_back(&rule, missing);
    }
  }
  const bool specific = std::ranges::any_of(
      out.fired, [](const Finding& f) { return !f.rule->composite && !f.rule->stop; });
  if (!specific) std::erase_if(out.fired, [](const Finding& f) { return f.rule->needs_other; });
  std::set<std::string_view> ids;
  for (const Finding& finding : out.fired) ids.insert(finding.rule->id);
  for (Finding& finding : out.fired) {
    if (specific && finding.rule->composite) finding.strength *= kCompositeShare;
    const auto& causes = finding.rule->explained_by;
    if (std::ranges::any_of(causes, [&](const std::string& id) { return ids.contains(id); }))
      finding.strength *= kSymptomShare;
  }
  std::ranges::sort(out.fired, [](const Finding& a, const Finding& b) {
    return a.strength != b.strength ? a.strength > b.strength : a.rule->id < b.rule->id;
  });
  return out;
}

std::string finding_text(const Finding& finding) {
  std::string out = finding.rule->id + " " + number_text(finding.severity, 3) + ":";
  const char* separator = " ";
  for (const RuleReading& reading : finding.readings) {
    out += separator + reading.condition->fact + " " + number_text(reading.fact.value, 3) + " (" +
           std::string(name(reading.fact.source)) +
           (reading.condition->above ? ", from " : ", below ") +
           number_text(reading.condition->threshold(), 3) + ")";
    separator = ", ";
  }
  return out;
}

std::string raised_moves_text(const Rule& rule, std::size_t most) {
  std::vector<std::pair<double, std::string>> moves;
  for (const auto& [move, weight] : rule.raises) moves.emplace_back(-weight, move);
  std::ranges::sort(moves);
  std::string out;
  for (std::size_t i = 0; i < std::min(most, moves.size()); ++i)
    out += (i == 0 ? "" : ", ") + moves[i].second;
  return out;
}

}  // namespace warpath
