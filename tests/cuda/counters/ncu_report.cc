#include "runners/cuda/counters/ncu_report.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "priors/evidence/rule_table.h"

using namespace warpath;
using warpath::cuda::NcuFindings;
using warpath::cuda::read_ncu_report;

namespace {

// Made up, in the form of the tool's text.
const std::string kText =
    "==PROF== Connected to process 7 (/tmp/sums)\n"
    "sum = 3 (ok), Context is everything\n"
    "[7] sums@127.0.0.1\n"
    "  row_sum(const float *, float *) (64, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC "
    "9.0\n"
    "    Section: GPU Speed Of Light Throughput\n"
    "    ----------------------- ----------- ------------\n"
    "    Metric Name             Metric Unit Metric Value\n"
    "    ----------------------- ----------- ------------\n"
    "    Elapsed Cycles                cycle       20,000\n"
    "    Memory Throughput                 %        91.50\n"
    "    DRAM Throughput                   %        91.50\n"
    "    Duration                         us        12.50\n"
    "    SM Active Cycles              cycle       15,000\n"
    "    Compute (SM) Throughput           %        12.00\n"
    "    ----------------------- ----------- ------------\n"
    "\n"
    "    OPT   The kernel is said to wait.\n"
    "\n"
    "    Section: Memory Workload Analysis\n"
    "    ----------------------- ----------- ------------\n"
    "    Metric Name             Metric Unit Metric Value\n"
    "    ----------------------- ----------- ------------\n"
    "    Memory Throughput           Tbyte/s         4.00\n"
    "    L2 Hit Rate                       %          n/a\n"
    "    ----------------------- ----------- ------------\n"
    "\n"
    "    Section: Warp State Statistics\n"
    "    OPT   Est. Speedup: 8.5%\n"
    "          On average, each warp of this workload spends 27.0 cycles being stalled waiting for "
    "a\n"
    "          scoreboard dependency on a L1TEX (local, global, surface, texture) operation. This "
    "stall type\n"
    "          represents about 90.0% of the total average of 30.0 cycles between issuing two "
    "instructions.\n"
    "\n"
    "    Section: Launch Statistics\n"
    "    -------------------------------- --------------- ---------------\n"
    "    Metric Name                          Metric Unit    Metric Value\n"
    "    -------------------------------- --------------- ---------------\n"
    "    Registers Per Thread             register/thread             168\n"
    "    Static Shared Memory Per Block       Kbyte/block            1.02\n"
    "    Waves Per SM                                                0.48\n"
    "    Block Limit Registers                      block               1\n"
    "    Block Limit Shared Mem                     block              16\n"
    "    Block Limit SM                             block              32\n"
    "    Theoretical Occupancy                          %           12.50\n"
    "    -------------------------------- --------------- ---------------\n"
    "\n"
    "  other(int), Context 1, Stream 7\n"
    "    Section: Occupancy\n"
    "    --------------------- ---\n"
    "    Achieved Occupancy    0.5\n"
    "    --------------------- ---\n";

const std::string kDetails =
    "==PROF== Disconnected\n"
    "\"ID\",\"Process Name\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric "
    "Unit\",\"Metric Value\",\"Rule Name\",\"Rule Description\"\n"
    "\"0\",\"p\",\"a(int)\",\"Speed\",\"DRAM Throughput\",\"%\",\"50.0\",\"\",\"\"\n"
    "\"0\",\"p\",\"a(int)\",\"Launch\",\"Grid Size\",\"\",\"1,056\",\"\",\"\"\n"
    "\"0\",\"p\",\"a(int)\",\"Warps\",\"\",\"\",\"\",\"CPIStall\",\"waiting for sibling warps at a "
    "CTA barrier. This represents about 40.0% of the total average of 5.0 cycles\"\n"
    "\"1\",\"p\",\"a(int)\",\"Speed\",\"DRAM Throughput\",\"%\",\"60.0\",\"\",\"\"\n";

const std::string kRaw =
    "\"ID\",\"Kernel "
    "Name\",\"gpu__time_duration.sum\",\"launch__registers_per_thread\",\"launch__occupancy_limit_"
    "registers\","
    "\"launch__occupancy_limit_warps\",\"launch__waves_per_multiprocessor\",\"sm__maximum_warps_"
    "per_active_cycle_pct\","
    "\"dram__throughput.avg.pct_of_peak_sustained_elapsed\"\n"
    "\"\",\"\",\"us\",\"register/thread\",\"block\",\"block\",\"\",\"%\",\"%\"\n"
    "\"0\",\"k\",\"2.5\",\"40\",\"6\",\"4\",\"2\",\"50\",\"80\"\n";

double value(const NcuFindings& launch, const std::string& fact) {
  CAPTURE(fact);
  REQUIRE(launch.diagnosis.facts.contains(fact));
  return launch.diagnosis.facts.at(fact).value;
}

bool fires(const NcuFindings& launch, std::string_view rule) {
  const Findings findings =
      RuleTable::built_in().evaluate(DiagnosisView(launch.diagnosis, launch.time_ns));
  return std::ranges::any_of(findings.fired,
                             [&](const Finding& finding) { return finding.rule->id == rule; });
}

}  // namespace

TEST_SUITE_BEGIN("ncu_report");

TEST_CASE("a text report becomes a diagnosis a launch, on which the rules fire") {
  const auto launches = read_ncu_report(kText, "r.txt");
  REQUIRE(launches.size() == 2);
  const NcuFindings& first = launches[0];
  CHECK(first.kernel == "row_sum(const float *, float *)");
  CHECK(first.time_ns == doctest::Approx(12500));
  CHECK(value(first, "dram_throughput") == doctest::Approx(0.915));
  CHECK(value(first, "sm_throughput") == doctest::Approx(0.12));
  CHECK(value(first, "sm_busy") == doctest::Approx(0.75));
  CHECK(value(first, "dram_total_bytes") == doctest::Approx(5e7));
  CHECK(value(first, "stall_long_scoreboard") == doctest::Approx(27.0 / 29.0));
  CHECK(value(first, "registers_per_thread") == 168);
  CHECK(value(first, "static_smem_bytes") == doctest::Approx(1020));
  CHECK(value(first, "waves") == doctest::Approx(0.48));
  CHECK(value(first, "tail_fraction") == doctest::Approx(0.48));
  CHECK(value(first, "occupancy") == doctest::Approx(0.125));
  CHECK(value(first, "occupancy_limit_registers") == 1);
  CHECK(first.diagnosis.facts.at("dram_throughput").source == FactSource::measured);
  CHECK(first.diagnosis.facts.at("waves").source == FactSource::static_analysis);
  CHECK_FALSE(first.diagnosis.facts.contains("occupancy_limit_smem"));
  CHECK_FALSE(first.diagnosis.facts.contains("l2_hit_rate"));
  for (const char* rule :
       {"severe_memory_bound", "register_limited", "low_waves_per_sm", "stall_long_scoreboard"})
    CHECK_MESSAGE(fires(first, rule), rule);
  CHECK_FALSE(fires(first, "huge_dram_traffic"));
  CHECK(launches[1].kernel == "other(int)");
  CHECK(launches[1].diagnosis.facts.empty());  // a share without its unit is not guessed
}

TEST_CASE("both pages of CSV become diagnoses") {
  const auto details = read_ncu_report(kDetails, "d.csv");
  REQUIRE(details.size() == 2);
  CHECK(value(details[0], "dram_throughput") == doctest::Approx(0.5));
  CHECK(value(details[1], "dram_throughput") == doctest::Approx(0.6));
  CHECK(value(details[0], "blocks") == 1056);
  CHECK(value(details[0], "stall_barrier") == doctest::Approx(0.5));

  const auto raw = read_ncu_report(kRaw, "r.csv");
  REQUIRE(raw.size() == 1);
  CHECK(raw[0].kernel == "k");
  CHECK(raw[0].time_ns == doctest::Approx(2500));
  CHECK(value(raw[0], "dram_throughput") == doctest::Approx(0.8));
  CHECK(value(raw[0], "occupancy") == doctest::Approx(0.5));
  CHECK(value(raw[0], "occupancy_limit_threads") == 1);
  CHECK(value(raw[0], "tail_fraction") == 1);
}

TEST_CASE("what holds no launch or a torn line is refused by place; any cut is read or refused") {
  CHECK_THROWS_WITH_AS(static_cast<void>(read_ncu_report("", "f")), doctest::Contains("f"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_ncu_report("hello\n", "f")),
                       doctest::Contains("Nsight Compute"), Error);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(read_ncu_report(kDetails.substr(0, kDetails.size() - 12), "f")),
      doctest::Contains("f:6"), Error);
  for (const std::string& report : {kText, kDetails, kRaw}) {
    for (std::size_t cut = 0; cut < report.size(); ++cut) {
      CAPTURE(cut);
      try {
        const auto launches = read_ncu_report(report.substr(0, cut), "f");
        CHECK_FALSE(launches.empty());
      } catch (const Error& error) {
        CHECK(std::string(error.what()).starts_with("f"));
      }
    }
  }
}

TEST_SUITE_END();
