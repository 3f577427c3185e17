#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/hash.h"

namespace warpath::cuda {

/// What an ELF file of machine code says without being loaded.
struct CubinFacts {
  std::vector<std::string> functions;  ///< names of the sections of code
  std::int64_t code_bytes = 0;         ///< of the entry
  int registers = 0;                   ///< of the entry
  std::int64_t frame_bytes = 0;        ///< stack frame of the entry
  std::int64_t global_bytes = 0;       ///< variables in device memory, initialised or not
  std::int64_t constant_bytes = 0;     ///< user constants (bank 3)
  /// of code and data, without names of files, notes and debug sections
  Hash128 code_hash;
};

/// Reads the 64-bit little-endian ELF file `cubin`. nullopt, with one line in `why`, if it is none
/// or lacks `entry`. Any bytes are safe to read.
[[nodiscard]] std::optional<CubinFacts> read_cubin(std::string_view cubin,
                                                   std::string_view entry,
                                                   std::string& why);

}  // namespace warpath::cuda
