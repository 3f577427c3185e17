#include "runners/cuda/plan/gate_plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/base/error.h"
#include "runners/cuda/options.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

/// Refuses everything, or nothing.
class Stamp final : public CodeGate {
 public:
  using CodeGate::CodeGate;
  [[nodiscard]] GateResult judge(const GateSubject&) const override { return pass(); }
};

class LastStamp final : public FinalistGate {
 public:
  using FinalistGate::FinalistGate;
  [[nodiscard]] GateResult judge(const FinalistSetup&) const override { return pass(); }
};

/// Four gates on text and code and one on finalists.
void fill(GateTable& table) {
  table.add(std::make_unique<Stamp>(GateInfo{
      .name = "spelling", .phase = GatePhase::text, .help = "h", .former = "s1_spelling"}));
  table.add(std::make_unique<Stamp>(GateInfo{
      .name = "registers", .phase = GatePhase::code, .help = "h", .former = "s2_registers"}));
  table.add(std::make_unique<Stamp>(GateInfo{
      .name = "loops", .phase = GatePhase::code, .stage = Stage::confirmation, .help = "h"}));
  table.add(std::make_unique<Stamp>(GateInfo{
      .name = "branches", .phase = GatePhase::code, .stage = Stage::confirmation, .help = "h"}));
  table.add(std::make_unique<LastStamp>(
      GateInfo{.name = "checker", .phase = GatePhase::after, .stage = Stage::final, .help = "h"}));
}

using Names = std::vector<std::string_view>;

CudaOptions lists(std::string screening,
                  std::string confirmation = "confirmation",
                  std::string final = "final") {
  CudaOptions options;
  options.screening = std::move(screening);
  options.confirmation = std::move(confirmation);
  options.final = std::move(final);
  return options;
}

}  // namespace

TEST_SUITE("gate_plan") {
  TEST_CASE(
      "without options every gate runs at the stage that it declares, and at every later one") {
    GateTable table{GateTable::Empty{}};
    fill(table);
    for (const GatePlan& plan : {GatePlan(table), GatePlan(CudaOptions{}, table)}) {
      CHECK(plan.begin_at(Stage::screening, GatePhase::text) == Names{"spelling"});
      CHECK(plan.begin_at(Stage::confirmation, GatePhase::code) == Names{"loops", "branches"});
      CHECK(plan.run_at(Stage::confirmation, GatePhase::code) ==
            Names{"registers", "loops", "branches"});
      CHECK(plan.runs("spelling", Stage::final));
      CHECK_FALSE(plan.runs("loops", Stage::screening));
      CHECK_FALSE(plan.runs("checker", Stage::confirmation));
      CHECK(plan.runs("checker", Stage::final));
    }
  }

  TEST_CASE(
      "a list names gates in running order; a stage and a phase stand for theirs; a minus leaves "
      "out") {
    GateTable table{GateTable::Empty{}};
    fill(table);
    const GatePlan named(lists("branches,spelling"), table);
    CHECK(named.run_at(Stage::screening, GatePhase::code) == Names{"branches"});
    // what is named elsewhere is not there twice
    CHECK(named.begin_at(Stage::confirmation, GatePhase::code) == Names{"loops"});
    CHECK_FALSE(named.runs("registers", Stage::final));

    const GatePlan earlier(lists("screening,confirmation,-loops"), table);
    CHECK(earlier.run_at(Stage::screening, GatePhase::code) == Names{"registers", "branches"});
    CHECK(earlier.begin_at(Stage::confirmation, GatePhase::code) == Names{"loops"});

    const GatePlan textual(lists("screening,-code", "", ""), table);
    CHECK(textual.runs("spelling", Stage::screening));
    CHECK_FALSE(textual.runs("registers", Stage::final));
    CHECK(GatePlan(lists("code", "", ""), table).run_at(Stage::screening, GatePhase::code) ==
          Names{"registers", "loops", "branches"});
  }

  TEST_CASE("lists of earlier versions are still read") {
    GateTable table{GateTable::Empty{}};
    fill(table);
    const GatePlan plan(lists("s2,s1_spelling", "", ""), table);
    CHECK(plan.runs("registers", Stage::screening));
    CHECK(plan.runs("spelling", Stage::screening));
  }

  TEST_CASE("an unknown gate, and one that is named twice, is refused with its option") {
    GateTable table{GateTable::Empty{}};
    fill(table);
    CHECK_THROWS_WITH_AS(GatePlan(lists("spelling,nonsense"), table),
                         doctest::Contains("cuda.screening: got nonsense"), Error);
    CHECK_THROWS_WITH_AS(GatePlan(lists("screening,-nonsense"), table),
                         doctest::Contains("cuda.screening: got nonsense"), Error);
    CHECK_THROWS_WITH_AS(GatePlan(lists("screening", "loops,spelling", "spelling"), table),
                         doctest::Contains("cuda.final: got spelling"), Error);
  }

  TEST_CASE(
      "a verdict names every gate, and one that was to run and has no answer fails the outcome") {
    GateTable table{GateTable::Empty{}};
    fill(table);
    const GatePlan plan(lists("screening,-registers"), table);
    Outcome outcome;
    outcome.status = Status::ok;
    outcome.verdict.gates = {{"spelling", GateResult::Answer::pass, ""}};
    outcome.timings.emplace_back();
    Outcome screened = outcome;
    plan.complete(Stage::screening, screened);
    CHECK(screened.status == Status::ok);
    CHECK(screened.verdict.gates.size() == table.rows().size());
    CHECK(screened.verdict.passed());
    CHECK(screened.verdict.gates.back().detail ==
          "left out by cuda.screening, cuda.confirmation and cuda.final");

    plan.complete(Stage::confirmation, outcome);
    CHECK(outcome.status == Status::rejected);
    CHECK(outcome.log.starts_with("loops: "));
    CHECK(outcome.timings.empty());
    CHECK_FALSE(outcome.verdict.passed());

    Outcome failed;
    failed.status = Status::wrong_result;
    plan.complete(Stage::final, failed);
    CHECK(failed.status == Status::wrong_result);
    CHECK(failed.verdict.gates.front().detail == "an earlier gate failed");
  }

  TEST_CASE("every gate of this build has a judge of its phase, but for the compiler's") {
    const GateTable table;
    for (const GateInfo& row : table.rows()) {
      CAPTURE(row.name);
      CHECK_FALSE(row.help.empty());
      CHECK(table.find(row.name) == &row);
      const bool judged = row.phase <= GatePhase::code ? table.code_gate(row.name) != nullptr
                          : row.phase == GatePhase::device
                              ? table.device_gate(row.name) != nullptr
                              : table.finalist_gate(row.name) != nullptr;
      CHECK(judged == (row.name != kCompileGate));
    }
    for (const std::string_view name : {kCompileGate, kPtxGate}) CHECK(table.find(name) != nullptr);
    if (table.device_gate("reference") == nullptr) return;  // a build without the CUDA headers
    for (const std::string_view name : {kLaunchGate, kGuardGate, kIsolationGate})
      CHECK(table.device_gate(name) != nullptr);
    for (const std::string_view name : {kSanitizerGate, kLargeTensorsGate})
      CHECK(table.find(name) != nullptr);
  }

  TEST_CASE(
      "docs/gates.md lists the gates of this build with their phase and stage, and no others") {
    const GateTable table;
    if (table.device_gate("reference") == nullptr) return;
    std::ifstream file(std::string(WARPATH_SOURCE_ROOT) + "/docs/gates.md");
    std::set<std::string> documented, expected;
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with("| `")) continue;
      std::stringstream cells(line);
      std::string none, name, phase, stage;
      std::getline(cells, none, '|');
      std::getline(cells, name, '|');
      std::getline(cells, phase, '|');
      std::getline(cells, stage, '|');
      documented.insert(name + phase + stage);
    }
    for (const GateInfo& row : table.rows()) {
      expected.insert(" `" + std::string(row.name) + "`  " +
                      std::string(kGatePhaseNames[static_cast<std::size_t>(row.phase)]) + "  " +
                      std::string(name(row.stage)) + " ");
    }
    CHECK(documented == expected);
  }
}
