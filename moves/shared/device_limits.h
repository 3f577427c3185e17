#pragma once

#include <cstdint>

namespace warpath {

/// What every CUDA device grants, whatever the launch is on.
inline constexpr std::int64_t kWarp = 32;          ///< threads
inline constexpr std::int64_t kMaxThreads = 1024;  ///< of a block
/// What a block may declare in shared memory, in bytes.
inline constexpr std::int64_t kStaticSmemBytes = 48 << 10;
/// Of a multiprocessor, 4 bytes each.
inline constexpr std::int64_t kMultiprocessorRegisters = 65536;

}  // namespace warpath
