#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// A buffer as it appears in code: a pointer parameter of an entry.
struct PointerParameter {
  const PtxFunction* entry = nullptr;
  std::size_t index = 0;  ///< among the entry's parameters
};

/// One instruction that writes or reads buffers.
struct BufferAccess {
  const PtxFunction* function = nullptr;
  std::size_t instruction = 0;
  std::uint64_t parameters = 0;  ///< as in BufferTraffic
  bool is_write = false;
};

/// The buffers that a module writes, and those it reads through the non-coherent path
/// (`ld.global.nc`, `ldu`), which may return stale data within a launch.
struct BufferTraffic {
  /// bit i of a mask is parameters[i]; at most 64
  std::vector<PointerParameter> parameters;
  /// stores, atomics, reductions, bulk copies out of shared memory
  std::uint64_t written = 0;
  std::uint64_t read_noncoherently = 0;
  std::vector<BufferAccess> accesses;  ///< those of the two that can be traced
  std::vector<BufferAccess> loads;     ///< other reads that can be traced
  /// non-coherent reads whose address comes from no known parameter
  std::size_t untraced_reads = 0;
  std::size_t untraced_writes = 0;  ///< likewise of writes
};

/// Follows addresses from the entries' 64-bit parameters through registers and calls, ignoring
/// order: whatever may be a pointer into a buffer counts as one. Pointers passed through memory and
/// integers computed from pointers are not followed, so no buffer is named wrongly. Linear in the
/// size of `module`, which must outlive the result.
[[nodiscard]] BufferTraffic buffer_traffic(const PtxModule& module);

}  // namespace warpath::cuda
