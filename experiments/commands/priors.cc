#include <cstdio>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "experiments/console/table_text.h"
#include "priors/evidence/roofline.h"
#include "priors/evidence/rule_table.h"
#include "register_commands.h"
#include "register_priors.h"

namespace warpath {
namespace {

void print_condition(const RuleCondition& condition) {
  std::printf("    %-24s %s %-8.4g full at %.4g%s\n", condition.fact.c_str(),
              condition.above ? ">=" : "< ", condition.threshold(), condition.full,
              condition.if_known ? ", where it is known" : "");
}

void print_rule(const Rule& rule, bool with_skill) {
  std::printf("%s  (%s, %s%s%s)\n    %s\n", rule.id.c_str(), rule.set.c_str(),
              std::string(name(rule.axis)).c_str(), rule.composite ? ", composite" : "",
              rule.needs_other ? ", never alone" : "", rule.signal.c_str());
  for (const RuleCondition& condition : rule.all) print_condition(condition);
  const std::string raised = raised_moves_text(rule, rule.raises.size());
  if (!raised.empty()) std::printf("    raises %s\n", raised.c_str());
  std::string lowered, wanted;
  for (const auto& [move, weight] : rule.lowers) lowered += (lowered.empty() ? "" : ", ") + move;
  for (const std::string& remedy : rule.wants) wanted += (wanted.empty() ? "" : ", ") + remedy;
  if (!lowered.empty()) std::printf("    lowers %s\n", lowered.c_str());
  if (!wanted.empty()) std::printf("    no move yet for %s\n", wanted.c_str());
  if (with_skill && !rule.skill.empty()) std::printf("\n%s", rule.skill.c_str());
  std::printf("\n");
}

void print_rules(const std::vector<std::string>& words) {
  const RuleTable& table = RuleTable::built_in();
  for (const std::string& word : words) {
    const Rule* const rule = table.find(word);
    if (rule == nullptr)
      throw bad_input("warpath priors --rules", word, "a rule; without a name all are listed");
    print_rule(*rule, true);
  }
  if (!words.empty()) return;
  for (const Rule& rule : table.rules()) print_rule(rule, false);
  std::printf("derived facts\n");
  for (const DerivedFact& fact : derived_facts()) {
    std::string inputs;
    for (const std::string& input : fact_inputs(fact.name))
      inputs += (inputs.empty() ? "" : ", ") + input;
    std::printf("    %-24s %s\n%29sfrom %s\n", std::string(fact.name).c_str(),
                std::string(fact.help).c_str(), "", inputs.c_str());
  }
}

void print_methods() {
  std::vector<std::vector<std::string>> rows;
  for (const Method& method : MethodRegistry::built_in().methods()) {
    std::string moves;
    for (const std::string& move : method.moves) moves += (moves.empty() ? "" : ", ") + move;
    rows.push_back({method.id, std::string(name(method.axis)), std::to_string(method.priority),
                    method.fact.empty() ? "no trigger" : method.fact,
                    method.fact.empty() ? "" : format("%.3g to %.3g", method.good, method.bad),
                    moves.empty() ? "-" : moves});
  }
  std::printf("%s", aligned_text(rows, {2}).c_str());
}

int print_priors(const Arguments& arguments, const Program&) {
  if (arguments.has("rules")) {
    print_rules(arguments.words());
    return 0;
  }
  if (!arguments.words().empty())
    throw bad_input("warpath priors", arguments.words()[0], "--rules before a rule's name");
  if (arguments.has("methods")) {
    print_methods();
    return 0;
  }
  const PriorRegistry& registry = registered_priors();
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, entry] : registry.entries()) rows.push_back({name, entry.help});
  std::printf("%s", aligned_text(rows).c_str());
  return 0;
}

}  // namespace

void register_command_priors(CommandRegistry& registry) {
  registry.push_back(
      {.name = "priors",
       .usage = "[--rules [RULE...] | --methods]",
       .help = "the priors that weigh proposals; the rule matrix that reads a diagnosis, with its "
               "thresholds; the registry of methods",
       .flags = {{.name = "rules",
                  .value = "",
                  .help = "every rule with thresholds and moves; of named rules the skill text too",
                  .takes = Flag::Takes::nothing},
                 {.name = "methods",
                  .value = "",
                  .help = "methods by axis: trigger from good to bad, moves that carry them out",
                  .takes = Flag::Takes::nothing}},
       .most_words = 64,
       .run = print_priors});
}

}  // namespace warpath
