#pragma once

#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "runners/cuda/lanes/device_lane.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

/// The devices named by `--gpus`: all of this machine, indices, or the lines of a file, each a
/// worker's command line (`ssh host warpath worker device --gpu 0`). `program`: starts local
/// workers; `all_options`: all options as JSON. Throws Error(bad_input) naming the flag,
/// Error(environment) if there is no GPU.
[[nodiscard]] std::vector<LaneSetup> lane_setups(const CudaOptions& options,
                                                 const std::string& program,
                                                 const std::string& all_options);

}  // namespace warpath::cuda
