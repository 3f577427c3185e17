#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// A program that prints machine code.
struct Disassembler {
  std::string path;                    ///< empty: none found
  std::string name;                    ///< "nvdisasm" or "cuobjdump"
  std::vector<std::string> arguments;  ///< before the file
};

/// Finds nvdisasm or, failing that, cuobjdump.
[[nodiscard]] Disassembler find_disassembler();

/// Disassembles `cubin` in a process with limits on time and output; empty, with one line in `why`,
/// if that fails.
[[nodiscard]] std::string disassemble(const Disassembler& tool,
                                      std::string_view cubin,
                                      std::string& why);

}  // namespace warpath::cuda
