#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/spec/expression.h"
#include "moves/blocks/block_memory.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// What a block of a kernel leaves in global memory.
struct BlockRun {
  std::vector<BlockMemory> arrays;  ///< the kernel's pointer parameters, in order
  std::int64_t blocks = 0;          ///< of the launch
};

/// Runs the kernel's body for all threads of a block at once, with numbers where they are known and
/// elements of global memory as symbols. `values`: names of the source, blockDim and gridDim, as by
/// KernelFacts::values. How the text shares the work among the threads does not matter; nullopt
/// with one line in `why` if data decide what is done, a statement or a value is not understood,
/// threads race, or the work exceeds a limit (some milliseconds).
[[nodiscard]] std::optional<BlockRun> run_block(const model::KernelModel& model,
                                                const Bindings& values,
                                                std::string& why);

}  // namespace warpath
