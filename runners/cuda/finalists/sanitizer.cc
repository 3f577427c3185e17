#include "runners/cuda/finalists/sanitizer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <future>
#include <sstream>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/base/stopwatch.h"
#include "engine/base/temporary_folder.h"
#include "runners/cuda/driver/toolkit_program.h"
#include "runners/cuda/finalists/small_workload.h"
#include "runners/cuda/plan/gate.h"

namespace warpath::cuda {
namespace {

const std::string kSanitizer(kSanitizerGate);
constexpr const char* kTools[] = {"memcheck", "racecheck", "synccheck"};

/// Runs the case without a tool. Returns what is wrong with it; empty if the spec's kernel and the
/// candidate are correct and write only to their tensors.
std::string plain_problem(const FinalistSetup& setup, const FinalistCase& of) {
  constexpr double kSmallSeconds = 15;
  try {
    DeviceLane lane(checking_lane(setup, "a small workload",
                                  "launch_contract,reference,guard_zones", kSmallSeconds));
    lane.equip({.harness_cubin = setup.tools.harness_cubin, .peaks_cubin = ""});
    lane.prepare(of.problem);
    for (const Candidate* const candidate : {&of.problem.baseline, &of.candidate}) {
      const TrialReply reply = screen(lane, *candidate, setup.stop);
      if (reply.status == Status::ok && reply.trouble.empty()) continue;
      return std::string(candidate == &of.candidate ? "it" : "the spec's kernel") +
             " is not right there";
    }
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// One tool's answer.
struct Checked {
  GateResult::Answer answer = GateResult::Answer::not_run;
  std::string detail;
};

Checked check(const FinalistSetup& setup,
              const FinalistCase& of,
              const char* which,
              double seconds) {
  using enum GateResult::Answer;
  const TemporaryFolder folder("sanitizer");
  const std::filesystem::path log = folder / "log";
  // Instrumented code may be a thousand times slower: what does not end in time is not run.
  LaneSetup lane_setup = checking_lane(setup, std::string("compute-sanitizer ") + which,
                                       "launch_contract,reference", seconds);
  const std::vector<std::string> tool{toolkit_program("compute-sanitizer"),
                                      "--tool",
                                      which,
                                      "--report-api-errors",
                                      "no",
                                      "--kernel-name",
                                      "kernel_name=" + of.candidate.codes.front().entry,
                                      "--log-file",
                                      log.string()};
  lane_setup.argv.insert(lane_setup.argv.begin(), tool.begin(), tool.end());
  const Stopwatch watch;
  const auto not_in_time = [&](const std::string& otherwise) -> Checked {
    const bool late = watch.seconds() >= seconds;
    return {not_run,
            std::string(which) + (late ? format(" did not end in %.0f s", seconds) : otherwise)};
  };
  TrialReply reply;
  try {
    DeviceLane lane(lane_setup);
    lane.equip({.harness_cubin = setup.tools.harness_cubin, .peaks_cubin = ""});
    PrepareProblem exact = of.problem;
    exact.exact_memory = true;
    lane.prepare(exact);
    reply = screen(lane, of.candidate, setup.stop);
    lane.close();  // the summary is written at the end
  } catch (const Error& error) {
    return not_in_time(std::string(": ") + error.what());
  }
  std::ostringstream text;
  text << std::ifstream(log).rdbuf();
  const SanitizerLog found = read_sanitizer_log(text.str());
  if (found.errors > 0)
    return {fail, std::string(which) + ": " + std::to_string(found.errors) +
                      " errors, the first: " + found.first};
  if (found.errors == 0) return {pass, which};
  // An invalid access under memcheck ends the context, and with it the worker, before there is a
  // summary.
  const bool faulted = reply.status == Status::crashed && reply.poisoned && which == kTools[0];
  if (faulted)
    return {fail, std::string(which) + ": " + (found.first.empty() ? reply.log : found.first)};
  return not_in_time(" gave no summary" + (reply.log.empty() ? "" : ": " + reply.log));
}

/// A small workload on which everything is right, with what sets it apart in `sizes`; nullopt with
/// the reason for the last that was tried.
std::optional<FinalistCase> small_case(const FinalistSetup& setup,
                                       const Workload& declared,
                                       std::string& sizes,
                                       std::string& why) {
  why = "its sizes are in its code";
  for (const Workload& workload :
       smaller_workloads(setup.spec, declared, integers_in_code(setup, declared))) {
    KernelSpec small = setup.spec;
    small.workloads = {workload};
    sizes = sizes_text(workload, declared);
    std::optional<FinalistCase> found = build_case(setup, small, why);
    if (!found) continue;
    why = plain_problem(setup, *found);
    if (why.empty()) return found;
    why = "with " + (sizes.empty() ? "the spec's sizes" : sizes) + ": " + why;
  }
  return std::nullopt;
}

}  // namespace

SanitizerLog read_sanitizer_log(const std::string& text) {
  SanitizerLog log;
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("=========")) continue;
    line.erase(0, std::min(line.find_first_not_of("= "), line.size()));
    const auto summary = line.find("SUMMARY: ");
    if (summary != std::string::npos) {
      const char* const begin = line.c_str() + summary + 9;
      int count = 0;
      if (std::from_chars(begin, line.c_str() + line.size(), count).ec == std::errc{}) {
        log.errors = std::max(log.errors, 0) + count;
      }
    } else if (log.first.empty() && !line.empty() && !line.starts_with("COMPUTE-SANITIZER")) {
      log.first = line.substr(0, 160);
    }
  }
  return log;
}

GateResult sanitize(const FinalistSetup& setup) {
  using enum GateResult::Answer;
  if (toolkit_program("compute-sanitizer").empty())
    return {kSanitizer, not_run, "compute-sanitizer is not installed"};
  constexpr double kShortNs = 3e5, kSmallSeconds = 20, kFullSeconds = 25, kLeastSeconds = 2;
  const Stopwatch watch;
  try {
    const Workload* const declared = scored_workload(setup);
    if (declared == nullptr) return {kSanitizer, not_run, "no workload of role score"};
    double longest_ns = 0;  // of its launches
    for (const WorkloadTiming& timing : setup.timings)
      longest_ns = std::max(longest_ns, median(timing.samples_ns));
    std::string sizes, why;
    std::optional<FinalistCase> of = small_case(setup, *declared, sizes, why);
    const bool is_small = of.has_value();
    if (!of) {
      if (longest_ns > kShortNs)
        return {kSanitizer, not_run,
                "no small workload (" + why + "), and launches of " + ms_text(longest_ns * 1e-6) +
                    " ms would take minutes"};
      of = FinalistCase{.problem = setup.problem, .candidate = setup.candidate};
    }
    const double spent = watch.seconds();
    const double of_a_tool =
        std::clamp(setup.seconds - spent, kLeastSeconds, is_small ? kSmallSeconds : kFullSeconds);
    std::vector<std::future<Checked>> under_way;
    for (const char* const which : kTools) {
      under_way.push_back(std::async(std::launch::async,
                                     [&, which] { return check(setup, *of, which, of_a_tool); }));
    }
    const std::string where = sizes.empty() || !is_small ? "" : " at " + sizes;
    std::string passed;
    Checked trouble{.answer = pass, .detail = ""};
    for (std::size_t i = 0; i < under_way.size(); ++i) {
      Checked one = under_way[i].get();
      if (one.answer == fail && i == 0 && !where.empty()) {
        // The contract covers the declared sizes only; a kernel that fails at other sizes may rely
        // on them.
        one = check(setup, {.problem = setup.problem, .candidate = setup.candidate}, kTools[0],
                    of_a_tool);
        if (one.answer == pass) one.detail += " at the spec's sizes";
      }
      if (one.answer == pass) passed += (passed.empty() ? "" : ", ") + one.detail;
      if (one.answer == fail || (one.answer == not_run && trouble.answer == pass)) {
        if (trouble.answer != fail) trouble = std::move(one);
      }
    }
    if (trouble.answer != pass) return {kSanitizer, trouble.answer, trouble.detail + where};
    return {kSanitizer, pass, passed + where};
  } catch (const Error& error) {
    return {kSanitizer, not_run, error.what()};
  }
}

}  // namespace warpath::cuda
