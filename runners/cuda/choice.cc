#include "runners/cuda/choice.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "runners/cuda/compile/availability.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {
namespace {

const std::string& gpus_of(const Options& options) {
  return options.of<CudaOptions>().gpus;
}

/// "0", "0,1": devices of this machine, as opposed to all, none or a file of workers elsewhere.
bool names_devices(std::string_view gpus) {
  return !gpus.empty() && gpus.find_first_not_of("0123456789,") == std::string_view::npos;
}

/// Each index has at most four digits.
bool are_indices(std::string_view gpus) {
  for (std::size_t begin = 0; begin <= gpus.size();) {
    const std::size_t end = std::min(gpus.find(',', begin), gpus.size());
    if (end == begin || end - begin > 4) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

void check_devices(const Options& options) {
  const std::string& gpus = gpus_of(options);
  if (gpus.starts_with("slurm:"))
    throw bad_input("--gpus", gpus,
                    "--runner cuda --cluster " + gpus + ": each job evaluates on the GPUs it has");
  std::error_code none;
  const bool known =
      gpus == "all" || gpus == "none" ||
      (names_devices(gpus) ? are_indices(gpus) : std::filesystem::is_regular_file(gpus, none));
  if (!known)
    throw bad_input("--gpus", gpus.empty() ? "\"\"" : gpus,
                    "all, none, indices (0,1) or a file of worker command lines");
}

namespace {

/// Whether the devices are there; workers elsewhere are found out about when they are started.
bool available(const std::string& gpus, std::string& why) {
  return (gpus != "all" && !names_devices(gpus)) || cuda_available(why);
}

void require_devices(const Options& options) {
  const std::string& gpus = gpus_of(options);
  if (gpus == "none") throw bad_input("--gpus", "none", "devices, for the cuda runner");
  std::string why;
  if (!available(gpus, why)) throw environment_error("--runner cuda: " + why);
}

/// Whoever names devices does not want the CPU.
int automatic_rank(const Options& options) {
  const std::string& gpus = gpus_of(options);
  if (gpus == "none") return 0;
  std::string why;
  if (available(gpus, why)) return 2;
  if (names_devices(gpus)) throw environment_error("--gpus " + gpus + ": " + why);
  return 0;
}

}  // namespace

RunnerTraits runner_traits() {
  return {.require = require_devices, .automatic_rank = automatic_rank};
}

}  // namespace warpath::cuda
