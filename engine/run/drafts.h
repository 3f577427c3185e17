#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "engine/plugin/diagnosis.h"
#include "engine/plugin/runner.h"

namespace warpath {

/// What compiling each of these variants tells, in their order; null: as Runner::draft.
using Drafter =
    std::function<std::vector<std::shared_ptr<const Diagnosis>>(const std::vector<Variant>&)>;

/// By `runner`, which has prepared `spec`, all side by side; empty if it never tells. Both must
/// outlive the result.
[[nodiscard]] Drafter drafter_of(Runner& runner, const KernelSpec& spec, std::stop_token stop);

}  // namespace warpath
