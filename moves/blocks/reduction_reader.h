#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "moves/blocks/block_reduction.h"
#include "moves/blocks/block_runner.h"

namespace warpath {

/// Interprets what statements first to last of a list leave, which `runner` has just run (at values
/// of the kernel's names), by how the rest of the kernel uses it. Nothing unless they combine a
/// value of each thread over the block, and all else that they leave is unused. What it returns
/// points into `model`.
[[nodiscard]] std::optional<BlockReduction> read_reduction(
    const model::KernelModel& model,
    const Bindings& values,
    const std::vector<const model::Stmt*>& list,
    std::size_t first,
    std::size_t last,
    const BlockRunner& runner);

}  // namespace warpath
