#include "runners/cuda/sanitizer.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/error.h"
#include "engine/options_io.h"
#include "runners/cuda/device_lane.h"
#include "runners/cuda/gates/gate.h"
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
Options checking_options(Options options) {
  options.cuda.screening = "launch_contract,reference";
  options.cuda.confirmation.clear();
  options.cuda.final.clear();
  options.cuda.input_sets = 2;
  options.cuda.timing_ms = 0.1;
  options.cuda.min_samples = options.cuda.max_samples = 5;
  options.cuda.launch_seconds *= 20;  // instrumented kernels are slow
  return options;
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

GateResult sanitize(const std::string& program, int gpu, const Options& options,
                    const DeviceTools& tools, const PrepareProblem& problem,
                    const Candidate& candidate) {
  const std::string tool = toolkit_program("compute-sanitizer");
  if (tool.empty()) return {kName, GateResult::Answer::not_run, "compute-sanitizer is not installed"};
  std::string ran;
  for (const char* const check : kTools) {
    const ScratchFile log;
    LaneSetup setup;
    setup.label = std::string("compute-sanitizer ") + check;
    setup.argv = {tool,         "--tool",      check, "--report-api-errors", "no", "--kernel-name",
                  "kernel_name=" + candidate.codes.front().entry,
                  "--log-file", log.path(),    program, "worker", "device", "--gpu", std::to_string(gpu)};
    setup.options = to_json(checking_options(options)).dump();
    setup.spare = false;
    // Instrumented code may be a thousand times slower: what does not end in time is not run.
    constexpr double kSeconds = 40;
    setup.prepare_seconds = setup.evaluation_seconds = kSeconds;
    TrialReply reply;
    try {
      DeviceLane lane(setup);
      lane.equip({.harness_cubin = tools.harness_cubin, .peaks_cubin = ""});
      PrepareProblem exact = problem;
      exact.exact_memory = true;
      lane.prepare(exact);
      Evaluate request;
      request.candidate = candidate;
      request.incumbent_ns = 1e-3;  // nothing is promising: screening alone
      reply = lane.evaluate(request, {});
      lane.close();  // the summary is written at the end
    } catch (const Error& error) {
      return {kName, GateResult::Answer::not_run, error.what()};
    }
    const SanitizerLog found = read_sanitizer_log(log.text());
    if (found.errors > 0) {
      return {kName, GateResult::Answer::fail, std::string(check) + ": " + std::to_string(found.errors) + " errors, the first: " + found.first};
    }
    if (found.errors < 0) {
      // An invalid access under memcheck ends the context, and with it the worker, before there is a summary.
      const bool faulted = reply.status == Status::crashed && reply.poisoned && check == kTools[0];
      if (faulted) return {kName, GateResult::Answer::fail, std::string(check) + ": " + (found.first.empty() ? reply.log : found.first)};
      return {kName, GateResult::Answer::not_run, std::string(check) + " gave no summary" + (reply.log.empty() ? "" : ": " + reply.log)};
    }
    ran += (ran.empty() ? "" : ", ") + std::string(check);
  }
  return {kName, GateResult::Answer::pass, ran};
}

}  // namespace warpath::cuda
