#pragma once

#include "engine/plugin/runner.h"

namespace warpath::cuda {

/// The traits of the runner, without its workers: the same whether or not this build has the
/// runner.
[[nodiscard]] RunnerTraits runner_traits();

}  // namespace warpath::cuda
