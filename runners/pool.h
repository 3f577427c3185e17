#pragma once

#include <memory>

#include "engine/plugin/evaluator.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"

namespace warpath {

/// An evaluator over a prepared runner: up to `runner.lanes()` threads take evaluations from a
/// concurrent queue of oneTBB and call `runner.run`, and results return through another. submit,
/// wait and cancel must be called from one thread. Both arguments must outlive the evaluator.
///
/// An Error from a lane is rethrown by the next wait(). The destructor stops running evaluations
/// and waits for them.
[[nodiscard]] std::unique_ptr<Evaluator> runner_pool(Runner& runner, const KernelSpec& spec);

}  // namespace warpath
