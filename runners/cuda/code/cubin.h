#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/hash.h"

namespace warpath::cuda {

/// Facts read from an ELF file of machine code without loading it.
struct CubinFacts {
  std::vector<std::string> functions;  ///< named by the code sections
  std::int64_t code_bytes = 0;         ///< of the entry
  int registers = 0;                   ///< of the entry
  std::int64_t frame_bytes = 0;        ///< stack frame of the entry
  std::int64_t global_bytes = 0;       ///< variables in device memory, initialised or not
  std::int64_t constant_bytes = 0;     ///< user constants (bank 3)
  /// of code and data, excluding file names, notes and debug sections
  Hash128 code_hash;
};

/// Parses the 64-bit little-endian ELF file `cubin`. nullopt, with one line in `why`, if it is
/// malformed or lacks `entry`. Safe on any input.
[[nodiscard]] std::optional<CubinFacts> read_cubin(std::string_view cubin,
                                                   std::string_view entry,
                                                   std::string& why);

}  // namespace warpath::cuda
