#include "runners/cuda/sanitizer.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/error.h"
#include "engine/options_io.h"
#include "engine/spec_load.h"
#include "runners/cuda/device_lane.h"
#include "runners/cuda/gates/gate.h"
#include "runners/cuda/small_workload.h"
#include "runners/cuda/toolkit_program.h"

namespace warpath::cuda {
namespace {

namespace fs = std::filesystem;
const std::string kName(kSanitizerGate);
constexpr const char* kTools[] = {"memcheck", "racecheck", "synccheck"};

/// A file that goes with its owner.
class ScratchFile {
 public:
  ScratchFile() : path_((fs::temp_directory_path() / "warpath-sanitizer-XXXXXX").string()) {
    const int fd = ::mkstemp(path_.data());
    if (fd < 0) throw environment_error(path_ + ": cannot be made");
    ::close(fd);
  }
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }

 private:
  std::string path_;
};

/// Checked launches only: a slowed-down kernel has no time.
Options checking_options(Options options, const char* gates) {
  options.cuda.screening = gates;
  options.cuda.confirmation.clear();
  options.cuda.final.clear();
  options.cuda.input_sets = 2;
  options.cuda.timing_ms = 0.1;
  options.cuda.min_samples = options.cuda.max_samples = 5;
  options.cuda.launch_seconds *= 20;  // instrumented kernels are slow
  return options;
}

/// One workload, and what runs on it.
struct Case {
  PrepareProblem problem;
  Candidate candidate;
};

/// Without a tool: what is wrong with the case; empty: spec's kernel and candidate are right, and nothing was written beside tensors.
std::string plain_problem(const SanitizerSetup& setup, const Case& of) {
  LaneSetup lane_setup;
  lane_setup.label = "a small workload";
  lane_setup.argv = {setup.program, "worker", "device", "--gpu", std::to_string(setup.gpu)};
  lane_setup.options = to_json(checking_options(setup.options, "launch_contract,reference,guard_zones")).dump();
  lane_setup.spare = false;
  constexpr double kSeconds = 15;
  lane_setup.prepare_seconds = lane_setup.evaluation_seconds = kSeconds;
  try {
    DeviceLane lane(lane_setup);
    lane.equip({.harness_cubin = setup.tools.harness_cubin, .peaks_cubin = ""});
    lane.prepare(of.problem);
    for (const Candidate* const candidate : {&of.problem.baseline, &of.candidate}) {
      Evaluate request;
      request.candidate = *candidate;
      request.incumbent_ns = 1e-3;  // nothing is promising: screening alone
      const TrialReply reply = lane.evaluate(request, setup.stop);
      if (reply.status == Status::ok && reply.trouble.empty()) continue;
      return std::string(candidate == &of.candidate ? "it" : "the spec's kernel") + " is not right there";
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

Checked check(const SanitizerSetup& setup, const Case& of, const char* which, double seconds) {
  using enum GateResult::Answer;
  const ScratchFile log;
  LaneSetup lane_setup;
  lane_setup.label = std::string("compute-sanitizer ") + which;
  lane_setup.argv = {toolkit_program("compute-sanitizer"), "--tool", which, "--report-api-errors", "no", "--kernel-name",
                     "kernel_name=" + of.candidate.codes.front().entry,
                     "--log-file", log.path(), setup.program, "worker", "device", "--gpu", std::to_string(setup.gpu)};
  lane_setup.options = to_json(checking_options(setup.options, "launch_contract,reference")).dump();
  lane_setup.spare = false;
  // Instrumented code may be a thousand times slower: what does not end in time is not run.
  lane_setup.prepare_seconds = lane_setup.evaluation_seconds = seconds;
  TrialReply reply;
  try {
    DeviceLane lane(lane_setup);
    lane.equip({.harness_cubin = setup.tools.harness_cubin, .peaks_cubin = ""});
    PrepareProblem exact = of.problem;
    exact.exact_memory = true;
    lane.prepare(exact);
    Evaluate request;
    request.candidate = of.candidate;
    request.incumbent_ns = 1e-3;
    reply = lane.evaluate(request, setup.stop);
    lane.close();  // the summary is written at the end
  } catch (const Error& error) {
    return {not_run, std::string(which) + ": " + error.what()};
  }
  const SanitizerLog found = read_sanitizer_log(log.text());
  if (found.errors > 0) return {fail, std::string(which) + ": " + std::to_string(found.errors) + " errors, the first: " + found.first};
  if (found.errors == 0) return {pass, which};
  // An invalid access under memcheck ends the context, and with it the worker, before there is a summary.
  const bool faulted = reply.status == Status::crashed && reply.poisoned && which == kTools[0];
  if (faulted) return {fail, std::string(which) + ": " + (found.first.empty() ? reply.log : found.first)};
  return {not_run, std::string(which) + " gave no summary" + (reply.log.empty() ? "" : ": " + reply.log)};
}

std::string sizes_text(const Workload& workload, const Workload& declared) {
  std::string out;
  for (const auto& [name, value] : workload.scalars) {
    const auto before = declared.scalars.find(name);
    const bool same = before != declared.scalars.end() && before->second == value;
    if (!same && std::holds_alternative<std::int64_t>(value)) out += (out.empty() ? "" : ", ") + name + " = " + std::to_string(std::get<std::int64_t>(value));
  }
  return out;
}

/// The variant, the spec's kernel and its reference built for one workload; nullopt with the reason.
std::optional<Case> build_case(const SanitizerSetup& setup, const KernelSpec& small, std::string& why) {
  const std::vector<const Workload*> workloads{&small.workloads.front()};
  const Variant baseline = baseline_variant(small);
  Case out;
  out.problem = setup.problem;
  out.problem.spec = to_json(small).dump();
  out.problem.workloads = {small.workloads.front().name};
  const BaselineText text = setup.builder.text_of(small, baseline, workloads);
  const auto built = [&](const Variant& variant, const BaselineText* beside, Candidate& into) {
    Build build = setup.builder.build(small, variant, workloads, beside, Stage::screening, setup.stop);
    if (build.candidate.key.empty()) why = build.log;
    into = std::move(build.candidate);
    return !into.key.empty();
  };
  if (!built(baseline, nullptr, out.problem.baseline) || !built(setup.variant, &text, out.candidate)) return std::nullopt;
  if (const auto reference = reference_variant(small)) {
    if (!built(*reference, nullptr, out.problem.reference.emplace())) return std::nullopt;
  }
  return out;
}

const Workload* scored(const KernelSpec& spec, const PrepareProblem& problem) {
  for (const std::string& name : problem.workloads) {
    const auto workload = std::ranges::find(spec.workloads, name, &Workload::name);
    if (workload != spec.workloads.end() && workload->role == WorkloadRole::score) return &*workload;
  }
  return nullptr;
}

/// A small workload on which everything is right, with what sets it apart in `sizes`; nullopt with the reason for the last that was tried.
std::optional<Case> small_case(const SanitizerSetup& setup, const Workload& declared, std::string& sizes, std::string& why) {
  const std::vector<const Workload*> workloads{&declared};
  const BaselineText own = setup.builder.text_of(setup.spec, setup.variant, workloads);
  const BaselineText theirs = setup.builder.text_of(setup.spec, baseline_variant(setup.spec), workloads);
  const auto fixed = integers_in_code(setup.spec, theirs.ptx.front(), own.ptx.front());
  why = "its sizes are in its code";
  for (const Workload& workload : smaller_workloads(setup.spec, declared, fixed)) {
    KernelSpec small = setup.spec;
    small.workloads = {workload};
    sizes = sizes_text(workload, declared);
    std::optional<Case> found = build_case(setup, small, why);
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

GateResult sanitize(const SanitizerSetup& setup) {
  using enum GateResult::Answer;
  if (toolkit_program("compute-sanitizer").empty()) return {kName, not_run, "compute-sanitizer is not installed"};
  constexpr double kShortNs = 3e5, kSmallSeconds = 20, kFullSeconds = 25;
  try {
    const Workload* const declared = scored(setup.spec, setup.problem);
    if (declared == nullptr) return {kName, not_run, "no workload of role score"};
    std::string sizes, why;
    std::optional<Case> of = small_case(setup, *declared, sizes, why);
    const bool is_small = of.has_value();
    if (!of) {
      if (setup.longest_ns > kShortNs) return {kName, not_run, "no small workload (" + why + "), and launches of " + std::to_string(setup.longest_ns * 1e-6) + " ms would take minutes"};
      of = Case{.problem = setup.problem, .candidate = setup.candidate};
    }
    std::vector<std::future<Checked>> under_way;
    for (const char* const which : kTools) {
      under_way.push_back(std::async(std::launch::async, [&, which] { return check(setup, *of, which, is_small ? kSmallSeconds : kFullSeconds); }));
    }
    const std::string where = sizes.empty() || !is_small ? "" : " at " + sizes;
    std::string passed;
    Checked trouble{.answer = pass, .detail = ""};
    for (std::size_t i = 0; i < under_way.size(); ++i) {
      Checked one = under_way[i].get();
      if (one.answer == fail && i == 0 && !where.empty()) {
        // The contract names the declared sizes: what is wrong beyond them may rely on them.
        one = check(setup, {.problem = setup.problem, .candidate = setup.candidate}, kTools[0], kFullSeconds);
        if (one.answer == pass) one.detail += " at the spec's sizes";
      }
      if (one.answer == pass) passed += (passed.empty() ? "" : ", ") + one.detail;
      if (one.answer == fail || (one.answer == not_run && trouble.answer == pass)) {
        if (trouble.answer != fail) trouble = std::move(one);
      }
    }
    if (trouble.answer != pass) return {kName, trouble.answer, trouble.detail + where};
    return {kName, pass, passed + where};
  } catch (const Error& error) {
    return {kName, not_run, error.what()};
  }
}

}  // namespace warpath::cuda
