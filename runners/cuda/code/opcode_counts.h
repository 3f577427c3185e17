#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/text/code_counts.h"
#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// Opcodes of the functions that a launch may reach, and in how many loops each stands. A loop is
/// what lies between the target of a backward branch and the last branch to it.
struct CountedCode {
  OpcodeCounts opcodes;
  std::int64_t loops = 0;
};

/// Of the PTX functions with a body; entries other than `entries` do not count. Directives that
/// bind a kernel count as opcodes "directive.NAME".
[[nodiscard]] CountedCode count_ptx(const PtxModule& module, std::span<const std::string> entries);

/// Of machine code as nvdisasm -c and cuobjdump -sass print it, without the functions `left_out`.
/// NOPs and the branch to itself behind the code are padding. What has no source but RZ and
/// immediates ("HFMA2.MMA R2, -RZ, RZ, 0, 0") loads a constant, whatever its opcode, and counts as
/// "CONSTANT.LOAD". Any text is safe to read; lines of another form do not count.
[[nodiscard]] CountedCode count_machine(std::string_view text,
                                        std::span<const std::string> left_out);

}  // namespace warpath::cuda
