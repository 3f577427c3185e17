#include <cstdio>

#include "engine/base/error.h"
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
  for (const Method& method : MethodRegistry::built_in().methods()) {
    std::string moves;
    for (const std::string& move : method.moves) moves += (moves.empty() ? "" : ", ") + move;
    std::printf("%-28s %-8s %2lld  ", method.id.c_str(), std::string(name(method.axis)).c_str(),
                static_cast<long long>(method.priority));
    if (method.fact.empty()) {
      std::printf("%-40s", "no trigger");
    } else {
      std::printf("%-24s %5.3g to %-7.3g ", method.fact.c_str(), method.good, method.bad);
    }
    std::printf(" %s\n", moves.empty() ? "-" : moves.c_str());
  }
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
  PriorRegistry registry("prior");
  register_priors(registry);
  for (const auto& [name, entry] : registry.entries())
    std::printf("%-12s %s\n", name.c_str(), entry.help.c_str());
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
