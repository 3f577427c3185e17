#include "experiments/report/profile_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/json/json_reader.h"
#include "engine/json/json_record.h"
#include "engine/plugin/outcome_io.h"
#include "priors/evidence/findings.h"
#include "runners/cuda/counters/ncu_report.h"

namespace warpath {
namespace {

constexpr std::size_t kMostReportBytes = std::size_t{256} << 20U;

/// As if the launch had been measured here.
Outcome outcome_of(const cuda::NcuFindings& launch) {
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.diagnosis = launch.diagnosis;
  if (launch.time_ns > 0) {
    WorkloadTiming timing;
    timing.workload = "profiled";
    timing.samples_ns = {launch.time_ns};
    outcome.timings.push_back(std::move(timing));
  }
  return outcome;
}

}  // namespace

std::vector<Flag> profile_flags() {
  return {{"ncu", "FILE",
           "instead: what a report of Nsight Compute (its text, or CSV of its raw or details page) "
           "says by the rules",
           Flag::Takes::one}};
}

void print_profile(const Arguments& arguments) {
  const std::string file = arguments.value("ncu").value();
  const auto launches =
      cuda::read_ncu_report(read_text_file(file, kMostReportBytes, "--ncu"), file);
  nlohmann::json out = nlohmann::json::array();
  for (const cuda::NcuFindings& launch : launches) {
    const Outcome outcome = outcome_of(launch);
    if (arguments.has("json")) {
      out.push_back({{"kernel", valid_utf8(launch.kernel)},
                     {"diagnosis", to_json(outcome).at("diagnosis")},
                     {"findings", findings_json(outcome)}});
      continue;
    }
    std::printf("%s: ", launch.kernel.c_str());
    if (launch.time_ns > 0) std::printf("%.6g us, ", launch.time_ns * 1e-3);
    std::printf("%zu facts\n%s%s", launch.diagnosis.facts.size(),
                findings_text(outcome, "  ").c_str(), unjudged_text(outcome, "  ").c_str());
  }
  if (arguments.has("json")) std::printf("%s\n", out.dump(1).c_str());
}

}  // namespace warpath
