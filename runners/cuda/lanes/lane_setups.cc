#include "runners/cuda/lanes/lane_setups.h"

#include <fstream>
#include <sstream>

#include "engine/base/error.h"
#include "runners/cuda/compile/availability.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

std::vector<LaneSetup> lane_setups(const CudaOptions& options,
                                   const std::string& program,
                                   const std::string& all_options) {
  std::vector<LaneSetup> setups;
  const auto local = [&](int gpu) {
    LaneSetup setup;
    setup.label = "GPU " + std::to_string(gpu);
    if (options.isolation == "process") {
      setup.argv = {program, "worker", "device", "--gpu", std::to_string(gpu)};
    }
    setup.gpu = gpu;
    setup.is_local = true;
    setups.push_back(std::move(setup));
  };
  const std::string& gpus = options.gpus;
  const bool indices = !gpus.empty() && gpus.find_first_not_of("0123456789,") == std::string::npos;
  if (gpus == "all") {
    for (const DeviceSummary& device : probe_platform().devices) local(device.index);
    if (setups.empty()) throw environment_error("--gpus all: there is no GPU here");
  } else if (indices) {
    std::stringstream list(gpus);
    for (std::string one; std::getline(list, one, ',');) {
      if (one.empty() || one.size() > 4) throw bad_input("--gpus", gpus, "indices such as 0,1");
      local(std::stoi(one));
    }
  } else {
    std::ifstream file(gpus);
    if (!file)
      throw bad_input("--gpus", gpus, "all, none, indices (0,1) or a file of worker command lines");
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.front() == '#') continue;
      LaneSetup setup;
      setup.label = line;
      std::stringstream words(line);
      for (std::string word; words >> word;) setup.argv.push_back(word);
      setups.push_back(std::move(setup));
    }
    if (setups.empty())
      throw bad_input("--gpus", gpus, "a file with a worker's command line on each line");
  }
  for (LaneSetup& setup : setups) {
    setup.options = all_options;
    setup.evaluation_seconds += options.launch_seconds;
  }
  return setups;
}

}  // namespace warpath::cuda
