#include "priors/evidence/rule_table.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "priors/evidence/embedded.h"
#include "priors/evidence/findings.h"
#include "priors/evidence/roofline.h"
#include "register_moves.h"
#include "register_priors.h"

using namespace warpath;

namespace {

Fact measured(double value) {
  return {value, FactSource::measured};
}

Diagnosis with(std::map<std::string, Fact, std::less<>> facts) {
  return {.time_bound_ns = {}, .facts = std::move(facts)};
}

const Finding* fired(const Findings& findings, std::string_view id) {
  for (const Finding& finding : findings.fired) {
    if (finding.rule->id == id) return &finding;
  }
  return nullptr;
}

/// Recorded facts that make the named fact `value`; derived ones by what they are made of.
Diagnosis facts_for(const std::string& fact, double value) {
  if (fact == "dram_utilisation") return with({{"dram_throughput", measured(value)}});
  if (fact == "dram_over_sm")
    return with({{"dram_throughput", measured(0.9)}, {"sm_throughput", measured(0.9 - value)}});
  if (fact == "sm_over_dram")
    return with({{"sm_throughput", measured(0.95)}, {"dram_throughput", measured(0.95 - value)}});
  if (fact == "sm_utilisation") return with({{"sm_throughput", measured(value)}});
  if (fact == "dram_bytes")
    return with({{"dram_read_bytes", measured(value / 4)},
                 {"dram_written_bytes", measured(value * 3 / 4)}});
  if (fact == "occupancy_now") return with({{"achieved_occupancy", measured(value)}});
  if (fact == "register_limited")
    return value >= 1 ? with({{"occupancy_limit_registers", measured(1)}})
                      : with({{"occupancy_limit_smem", measured(1)}});
  if (fact == "sector_excess") {
    return with({{"load_sectors_per_request", measured(4 * value)},
                 {"ptx_global_load_bytes", measured(8)},
                 {"ptx_load_global", measured(2)}});
  }
  if (fact == "bank_conflicts")
    return with(
        {{"shared_load_conflicts", measured(1000 * value)}, {"shared_wavefronts", measured(1000)}});
  return with({{fact, measured(value)}});
}

Diagnosis merged(Diagnosis a, const Diagnosis& b) {
  for (const auto& [name, fact] : b.facts) a.facts[name] = fact;
  return a;
}

}  // namespace

TEST_SUITE_BEGIN("prior_rules");

TEST_CASE(
    "the matrix has nineteen rules, each with its skill text, and every move that it names "
    "exists") {
  const MoveRegistry& moves = registered_moves();
  int matrix = 0;
  for (const Rule& rule : RuleTable::built_in().rules()) {
    CAPTURE(rule.id);
    matrix += rule.set == "matrix";
    CHECK((rule.set != "matrix" || rule.skill.starts_with("# " + rule.id + "\n")));
    CHECK((rule.stop || !rule.raises.empty()));
    for (const auto& list : {rule.raises, rule.lowers}) {
      for (const auto& [move, weight] : list) CHECK_MESSAGE(moves.contains(move), move);
    }
  }
  CHECK(matrix == 19);
  std::set<std::string> texts, embedded;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WARPATH_SOURCE_ROOT) + "/priors/skills"))
    texts.insert(entry.path().stem().string());
  texts.erase("README");
  CHECK(embedded_skills().size() == 19);
  for (const EmbeddedText& skill : embedded_skills()) {
    CAPTURE(std::string(skill.name));
    embedded.emplace(skill.name);
    CHECK(RuleTable::built_in().find(skill.name) != nullptr);
    for (const char* part : {"**Signal.**", "**Root causes**", "**Fixes**", "**Anti-patterns**"})
      CHECK(skill.text.find(part) != std::string_view::npos);
  }
  CHECK(texts == embedded);
}

TEST_CASE("each rule of the matrix fires on its own side of each threshold and not on the other") {
  constexpr double kStep = 1e-6;
  for (const Rule& rule : RuleTable::built_in().rules()) {
    if (rule.set != "matrix" || rule.needs_other) continue;
    for (std::size_t tested = 0; tested < rule.all.size(); ++tested) {
      if (rule.all[tested].if_known) continue;
      if (rule.all.size() > 1 && rule.all[tested].fact.find("_over_") == std::string::npos &&
          rule.all[1].fact.find("_over_") != std::string::npos)
        continue;
      CAPTURE(rule.id);
      CAPTURE(rule.all[tested].fact);
      const auto at = [&](double side) {
        Diagnosis diagnosis;
        for (std::size_t i = 0; i < rule.all.size(); ++i) {
          const RuleCondition& c = rule.all[i];
          if (c.if_known) continue;
          const double step = kStep * std::max(1.0, std::abs(c.threshold()));
          const double inside = c.above ? step : -step;
          diagnosis = merged(
              diagnosis, facts_for(c.fact, c.threshold() + (i == tested ? side : 1.0) * inside));
        }
        const DiagnosisView view(diagnosis, 0);
        return fired(RuleTable::built_in().evaluate(view), rule.id) != nullptr;
      };
      CHECK(at(1));
      CHECK_FALSE(at(-1));
    }
  }
}

TEST_CASE(
    "a busy memory and a busy pipe fire from 80 and 85 percent, and only well above the other") {
  const auto fires = [](const char* rule, double dram, double sm) {
    const Diagnosis diagnosis =
        with({{"dram_throughput", measured(dram)}, {"sm_throughput", measured(sm)}});
    return fired(RuleTable::built_in().evaluate(DiagnosisView(diagnosis, 0)), rule) != nullptr;
  };
  CHECK(fires("severe_memory_bound", 0.801, 0.3));
  CHECK_FALSE(fires("severe_memory_bound", 0.799, 0.3));
  CHECK_FALSE(fires("severe_memory_bound", 0.9, 0.85));
  CHECK(fires("near_peak_compute", 0.3, 0.851));
  CHECK_FALSE(fires("near_peak_compute", 0.3, 0.849));
  CHECK_FALSE(fires("near_peak_compute", 0.86, 0.88));
}

TEST_CASE("severity ramps from the threshold to its full value, and static facts count less") {
  const auto judge = [](double value, FactSource source) {
    const Diagnosis diagnosis = with({{"stall_long_scoreboard", {value, source}}});
    const Findings findings = RuleTable::built_in().evaluate(DiagnosisView(diagnosis, 0));
    const Finding* const finding = fired(findings, "stall_long_scoreboard");
    REQUIRE(finding != nullptr);
    return std::pair(finding->severity, finding->strength);
  };
  CHECK(judge(0.30, FactSource::measured).first == doctest::Approx(0));
  CHECK(judge(0.50, FactSource::measured).first == doctest::Approx(0.5));
  CHECK(judge(0.95, FactSource::measured).first == doctest::Approx(1));
  CHECK(judge(0.95, FactSource::measured).second == doctest::Approx(1));
  CHECK(judge(0.95, FactSource::static_analysis).second == doctest::Approx(0.7));
}

TEST_CASE("low IPC never fires alone, and a composite rule counts half beside a specific one") {
  const RuleTable& table = RuleTable::built_in();
  Diagnosis diagnosis = with({{"ipc", measured(0.1)}});
  CHECK(table.evaluate(DiagnosisView(diagnosis, 0)).fired.empty());
  diagnosis = with({{"achieved_occupancy", measured(0.25)}});
  const double alone =
      fired(table.evaluate(DiagnosisView(diagnosis, 0)), "low_occupancy")->strength;
  diagnosis.facts["stall_barrier"] = measured(0.4);
  diagnosis.facts["ipc"] = measured(0.1);
  const Findings both = table.evaluate(DiagnosisView(diagnosis, 0));
  CHECK(fired(both, "low_occupancy")->strength == doctest::Approx(alone / 2));
  CHECK(fired(both, "low_ipc") != nullptr);
}

TEST_CASE("a symptom counts half beside a rule that explains it, in findings for programs too") {
  Outcome outcome;
  outcome.diagnosis = with({{"stall_long_scoreboard", measured(0.9)}});
  const auto strength = [&](std::string_view id) {
    const Findings findings = RuleTable::built_in().evaluate(DiagnosisView(*outcome.diagnosis, 0));
    return fired(findings, id)->strength;
  };
  CHECK(strength("stall_long_scoreboard") == doctest::Approx(1));
  outcome.diagnosis->facts["static_sector_excess"] = {8, FactSource::static_analysis};
  CHECK(strength("stall_long_scoreboard") == doctest::Approx(0.5));
  CHECK(strength("poor_coalescing") == doctest::Approx(0.7));
  const nlohmann::json listed = findings_json(outcome);
  REQUIRE(listed.size() >= 2);
  CHECK(listed[0].at("strength").get<double>() >= listed[1].at("strength").get<double>());
  CHECK(listed[0].at("set") == "matrix");
  CHECK(findings_json(Outcome{}).is_null());
}

TEST_CASE("a rule is explained by other rules of its table") {
  const auto table = [](const std::string& cause) {
    return R"({"rules": [{"id": "a", "set": "report", "axis": "memory", "signal": "s", "all": [{"fact": "f", "above": 1, "full": 2}],
                "explained_by": [")" +
           cause + R"("], "raises": {"m": 1}},
               {"id": "b", "set": "report", "axis": "memory", "signal": "s", "all": [{"fact": "f", "above": 1, "full": 2}], "raises": {"m": 1}}]})";
  };
  CHECK(RuleTable::parse(table("b"), "t.json").rules().size() == 2);
  CHECK_THROWS_WITH_AS(static_cast<void>(RuleTable::parse(table("a"), "t.json")),
                       doctest::Contains("t.json:/rules/0/explained_by/0"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(RuleTable::parse(table("c"), "t.json")),
                       doctest::Contains("t.json:/rules/0/explained_by/0"), Error);
}

TEST_CASE(
    "reuse counts against the declared traffic where there is one, else against what was "
    "measured") {
  Diagnosis diagnosis =
      with({{"work_global_bytes", measured(8e6)}, {"dram_read_bytes", measured(8e6)}});
  CHECK(DiagnosisView(diagnosis, 0).get("global_reuse")->value == doctest::Approx(1));
  diagnosis.facts["compulsory_bytes"] = measured(2e6);
  CHECK(DiagnosisView(diagnosis, 0).get("global_reuse")->value == doctest::Approx(4));
}

TEST_CASE(
    "a streaming kernel's missing hits are no fault, and occupancy is none without latency to "
    "hide") {
  Diagnosis diagnosis = with({{"l1_hit_rate", measured(0.01)},
                              {"dram_read_bytes", measured(1e6)},
                              {"work_global_bytes", measured(1e6)}});
  CHECK(fired(RuleTable::built_in().evaluate(DiagnosisView(diagnosis, 0)), "low_l1_hit") ==
        nullptr);
  diagnosis.facts["work_global_bytes"] = measured(1e7);
  CHECK(fired(RuleTable::built_in().evaluate(DiagnosisView(diagnosis, 0)), "low_l1_hit") !=
        nullptr);
  diagnosis = with({{"achieved_occupancy", measured(0.2)}, {"dram_throughput", measured(0.92)}});
  CHECK(fired(RuleTable::built_in().evaluate(DiagnosisView(diagnosis, 0)), "low_occupancy") ==
        nullptr);
}

TEST_CASE("bounds over the measured time stand in for counters") {
  Diagnosis diagnosis;
  diagnosis.time_bound_ns = {{"dram", measured(900)}, {"fp32", measured(100)}};
  const DiagnosisView view(diagnosis, 1000);
  CHECK(view.get("dram_utilisation")->value == doctest::Approx(0.9));
  CHECK(view.get("latency_headroom")->value == doctest::Approx(0.1));
  CHECK(fired(RuleTable::built_in().evaluate(view), "severe_memory_bound") != nullptr);
  CHECK_FALSE(DiagnosisView(diagnosis, 0).get("dram_utilisation"));
}

TEST_CASE("the inputs of a derived fact are all that it needs, and nothing else gives it") {
  DiagnosisView::Asked all;
  for (const DerivedFact& fact : derived_facts()) all.merge(fact_inputs(fact.name));
  const auto diagnosis_of = [](const DiagnosisView::Asked& names) {
    Diagnosis diagnosis;
    for (const std::string& name : names) {
      if (name.starts_with("bound "))
        diagnosis.time_bound_ns[name.substr(6)] = measured(1);
      else
        diagnosis.facts[name] = measured(1);
    }
    return diagnosis;
  };
  for (const DerivedFact& fact : derived_facts()) {
    CAPTURE(fact.name);
    const DiagnosisView::Asked inputs = fact_inputs(fact.name);
    CHECK_FALSE(inputs.empty());
    const Diagnosis with_inputs = diagnosis_of(inputs);
    CHECK(DiagnosisView(with_inputs, 2).get(fact.name));
    DiagnosisView::Asked others = all;
    for (const std::string& input : inputs) others.erase(input);
    // What the declared work lacks shows by the other bounds.
    if (fact.name == "tensor_shaped") continue;
    const Diagnosis without = diagnosis_of(others);
    CHECK_FALSE(DiagnosisView(without, 2).get(fact.name));
  }
}

TEST_CASE("rules that lack a fact are listed under it") {
  Outcome outcome;
  CHECK(unjudged_text(outcome, "") == "");
  outcome.diagnosis = with({{"waves", measured(1)}});
  const std::string text = unjudged_text(outcome, "- ");
  CHECK(text.find("- unavailable: l1_hit_rate, for low_l1_hit\n") != std::string::npos);
  CHECK(text.find("low_waves_per_sm") == std::string::npos);
}

TEST_CASE("a finding's text has its numbers, their source and the threshold") {
  const Diagnosis diagnosis = with({{"waves", {0.25, FactSource::static_analysis}}});
  const Findings findings = RuleTable::built_in().evaluate(DiagnosisView(diagnosis, 0));
  CHECK(finding_text(*fired(findings, "low_waves_per_sm")) ==
        "low_waves_per_sm 1: waves 0.25 (static, below 2)");
}

TEST_CASE("a table that a person got wrong is refused by place") {
  const auto complaint = [](const std::string& rule) {
    try {
      static_cast<void>(RuleTable::parse("{\"rules\": [" + rule + "]}", "t.json"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string head =
      R"({"id": "r", "set": "report", "axis": "memory", "signal": "s", "raises": {}, "all": )";
  CHECK(complaint(head + R"([{"fact": "waves", "below": 2, "full": 1}]})") == "");
  CHECK(complaint(head + R"([{"fact": "waves", "below": 2, "above": 1, "full": 1}]})")
            .find("t.json:/rules/0/all/0") == 0);
  CHECK(complaint(head + R"([{"fact": "waves", "below": 2, "full": 3}]})")
            .find("/rules/0/all/0/full") != std::string::npos);
  CHECK(complaint(head + R"([]})").find("/rules/0/all") != std::string::npos);
  CHECK(complaint(head + R"([{"fact": "waves", "below": 2, "full": 1, "extra": 1}]})")
            .find("extra") != std::string::npos);
}

TEST_CASE(
    "the prior raises what the diagnosis asks for, keeps a floor, and follows the proposers "
    "without a diagnosis") {
  const PriorRegistry& priors = registered_priors();
  const auto prior = priors.create("test", "rules", {});
  std::vector<Proposal> proposals(3);
  proposals[0].instance = {"coalesce_remap", "s", {}};
  proposals[1].instance = {"vectorize_global_loads", "s", {}};
  proposals[2].instance = {"vectorize_global_loads", "t", {}};
  proposals[2].weight = 1e-12;
  const KernelSpec spec;
  const Variant variant;
  const DeviceFacts device;
  Outcome outcome;
  std::vector<double> p;
  prior->evaluate({{spec, variant, device}, Hash128{}, &outcome, 1}, proposals, p);
  CHECK(p[0] == p[1]);
  outcome.diagnosis = facts_for("sector_excess", 8);
  prior->evaluate({{spec, variant, device}, Hash128{}, &outcome, 1}, proposals, p);
  CHECK(p[0] > 3 * p[1]);
  CHECK(p[2] >= 0.1 / 3);
  CHECK(p[0] + p[1] + p[2] == doctest::Approx(1));
}

TEST_SUITE_END();
