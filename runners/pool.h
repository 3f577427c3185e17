#pragma once

#include <memory>

#include "engine/plugin/evaluator.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"

namespace warpath {

/// An evaluator over a prepared runner: `runner.lanes()` threads of a oneTBB arena call
/// `runner.run`, and results return through a concurrent queue. submit, wait and cancel belong to
/// one thread. Both arguments outlive the evaluator.
///
/// What a task throws does not get lost: an Error (the infrastructure failed) is thrown by the next
/// wait(); any other exception is a fault of the runner on this candidate and becomes an outcome
/// `crashed` that says so. Destroying the evaluator stops its evaluations and waits for them.
[[nodiscard]] std::unique_ptr<Evaluator> runner_pool(Runner& runner, const KernelSpec& spec);

}  // namespace warpath
