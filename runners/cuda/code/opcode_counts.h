#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/text/code_counts.h"
#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// Opcodes of the functions that a launch may reach, with the number of loops around each. A loop
/// extends from the target of a backward branch to the last branch to it.
struct CountedCode {
  OpcodeCounts opcodes;
  std::int64_t loops = 0;
};

/// Counts the PTX functions with a body; entries other than `entries` are ignored. Performance
/// directives of a kernel count as opcodes "directive.NAME".
[[nodiscard]] CountedCode count_ptx(const PtxModule& module, std::span<const std::string> entries);

/// Counts machine code in the format of nvdisasm -c and cuobjdump -sass, without the functions
/// `left_out`. NOPs and the branch-to-self after the code are ignored as padding. An instruction
/// whose sources are only RZ and immediates ("HFMA2.MMA R2, -RZ, RZ, 0, 0") loads a constant and
/// counts as "CONSTANT.LOAD". Safe on any text; lines in other formats are ignored.
[[nodiscard]] CountedCode count_machine(std::string_view text,
                                        std::span<const std::string> left_out);

}  // namespace warpath::cuda
