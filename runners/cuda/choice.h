#pragma once

#include "engine/plugin/runner.h"

namespace warpath::cuda {

/// Throws Error(bad_input) unless cuda.gpus can be meant.
void check_devices(const Options& options);
/// The traits of the runner, without its workers: the same whether or not this build has the
/// runner.
[[nodiscard]] RunnerTraits runner_traits();

}  // namespace warpath::cuda
