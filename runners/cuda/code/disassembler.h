#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpath::cuda {

/// A program that writes machine code as text.
struct Disassembler {
  std::string path;                    ///< empty: there is none
  std::string name;                    ///< "nvdisasm" or "cuobjdump"
  std::vector<std::string> arguments;  ///< before the file
};

/// nvdisasm, else cuobjdump.
[[nodiscard]] Disassembler find_disassembler();

/// `cubin` as text, by a process with limits of time and output and a file of its own; empty, with
/// one line in `why`, where that fails.
[[nodiscard]] std::string disassemble(const Disassembler& tool,
                                      std::string_view cubin,
                                      std::string& why);

}  // namespace warpath::cuda
