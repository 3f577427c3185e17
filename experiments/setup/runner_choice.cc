#include "experiments/setup/runner_choice.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "engine/base/error.h"
#include "runners/cuda/compile/availability.h"
#include "runners/cuda/options.h"
#include "runners/worker/sandbox.h"

namespace warpath {
namespace {

/// "0", "0,1": devices of this machine, as opposed to all, none or a file of workers elsewhere.
bool names_devices(std::string_view gpus) {
  return !gpus.empty() && gpus.find_first_not_of("0123456789,") == std::string_view::npos;
}

/// The best that this machine offers. Whoever names devices does not want the CPU.
std::string automatic_runner(const RunnerRegistry& registry, const CudaOptions& cuda) {
  if (cuda.gpus == "none") return "host";
  std::string why;
  const bool usable =
      registry.contains("cuda") &&
      (cuda.gpus != "all" && !names_devices(cuda.gpus) ? true : cuda::cuda_available(why));
  if (!usable && names_devices(cuda.gpus))
    throw environment_error("--gpus " + cuda.gpus + ": " +
                            (why.empty() ? "this build has no CUDA runner" : why));
  return usable ? "cuda" : "host";
}

/// "0,1" or "0": each index of at most four digits.
bool are_indices(std::string_view gpus) {
  for (std::size_t begin = 0; begin <= gpus.size();) {
    const std::size_t end = std::min(gpus.find(',', begin), gpus.size());
    if (end == begin || end - begin > 4) return false;
    begin = end + 1;
  }
  return true;
}

/// Whatever the runner: a device that is named wrongly would otherwise be ignored.
void check_device_options(const CudaOptions& cuda) {
  std::error_code none;
  const bool known = cuda.gpus == "all" || cuda.gpus == "none" ||
                     (names_devices(cuda.gpus) ? are_indices(cuda.gpus)
                                               : std::filesystem::is_regular_file(cuda.gpus, none));
  if (!known)
    throw bad_input("--gpus", cuda.gpus.empty() ? "\"\"" : cuda.gpus,
                    "all, none, indices (0,1) or a file of worker command lines");
}

/// Refuses early what no run could do.
void require_gpu(std::string_view text, const CudaOptions& cuda) {
  if (cuda.gpus == "none") throw bad_input("--gpus", "none", "devices, for the cuda runner");
  std::string why;
  if ((cuda.gpus == "all" || names_devices(cuda.gpus)) && !cuda::cuda_available(why)) {
    throw environment_error("--runner " + std::string(text) + ": " + why);
  }
}

}  // namespace

RunnerChoice choose_runner(std::string_view text,
                           const RunnerRegistry& registry,
                           const CudaOptions& cuda) {
  check_device_options(cuda);
  const auto colon = text.find(':');
  RunnerChoice choice{std::string(text.substr(0, colon)),
                      colon == std::string_view::npos ? "" : std::string(text.substr(colon + 1))};
  if (choice.name == "cuda") require_gpu(text, cuda);
  if (text == "auto") choice.name = automatic_runner(registry, cuda);
  if (!registry.contains(choice.name)) {
    throw bad_input("--runner", text, "a runner of this build: one of auto, " + registry.names());
  }
  if (choice.name == "host" && !choice.argument.empty())
    throw bad_input("--runner", text, "host without an argument");
  return choice;
}

void say_confinement(const RunnerChoice& runner) {
  if (runner.name != "host") return;
  const Sandbox sandbox = probe_sandbox();
  if (sandbox.missing().empty()) return;
  const std::string held = sandbox.blocks_files()
                               ? "confined by " + sandbox.summary() + " alone"
                               : "not confined: a hostile one has the rights of this user";
  std::fprintf(stderr,
               "warpath: candidates on the host runner are %s (this kernel does not offer %s)\n",
               held.c_str(), sandbox.missing().c_str());
}

std::string_view timing_label(std::string_view runner_text) {
  if (runner_text.starts_with("host")) return "CPU timings";
  if (runner_text.starts_with("synthetic")) return "pretended timings";
  if (runner_text.starts_with("replay")) return "recorded timings";
  return "";
}

std::string timing_heading(std::string_view runner_text) {
  const std::string_view label = timing_label(runner_text);
  return label.empty() ? ""
                       : std::string(runner_text) + " runner: times are " + std::string(label) +
                             ", not a GPU's\n";
}

}  // namespace warpath
