#include "runners/cuda/compile/other_compiler.h"

#include <chrono>
#include <utility>

#include "engine/base/format.h"
#include "runners/worker/process.h"

namespace warpath::cuda {
namespace {

constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 20U;

}  // namespace

CompilerRun::CompilerRun(const std::filesystem::path& folder,
                         std::vector<std::string> environment,
                         const ProgramSandbox* sandbox,
                         const CompileLimits& limits,
                         const std::stop_token& stop)
    : folder_(folder),
      environment_(std::move(environment)),
      sandbox_(sandbox),
      limits_(limits),
      stop_(stop) {}

bool CompilerRun::run(const std::vector<std::string>& argv) {
  const ProcessSpec process{
      .argv = argv,
      .environment = environment_,
      .directory = folder_.string(),
      .memory_bytes = static_cast<std::int64_t>(limits_.memory_bytes),
      .file_bytes = static_cast<std::int64_t>(limits_.output_bytes),
      .cpu_seconds = static_cast<std::int64_t>(limits_.seconds) + 1,
      .sandbox = sandbox_,
  };
  ProcessResult end =
      run_process(process, std::chrono::duration<double>(limits_.seconds - result.seconds),
                  kMaxMessageBytes, stop_);
  result.seconds += end.seconds;
  output_ = std::move(end.output);
  refused_ = end.end == ProcessEnd::exited && end.code != 0;
  switch (end.end) {
    case ProcessEnd::stopped:
      result.log = "stopped";
      return false;
    case ProcessEnd::timed_out:
      result.status = Status::timed_out;
      result.log =
          "the compiler took longer than " + number_text(limits_.seconds) + " s and was killed\n";
      return false;
    case ProcessEnd::too_verbose:
      result.status = Status::limits_exceeded;
      result.log = "the compiler wrote more than " + std::to_string(kMaxMessageBytes) +
                   " bytes of messages\n";
      return false;
    case ProcessEnd::signalled:
      result.log = "the compiler died over this source (signal " + std::to_string(end.code) + ")\n";
      return false;
    case ProcessEnd::exited:
      return end.code == 0;
  }
  return false;
}

}  // namespace warpath::cuda
