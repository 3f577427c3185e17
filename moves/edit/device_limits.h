#pragma once

#include <cstdint>

namespace warpath {

/// Guaranteed by every CUDA device.
inline constexpr std::int64_t kWarp = 32;          ///< threads
inline constexpr std::int64_t kMaxThreads = 1024;  ///< per block
/// Statically declared shared memory per block, in bytes.
inline constexpr std::int64_t kStaticSmemBytes = 48 << 10;
/// Per multiprocessor, 4 bytes each.
inline constexpr std::int64_t kMultiprocessorRegisters = 65536;

}  // namespace warpath
