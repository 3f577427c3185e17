#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// A buffer as the code knows it: a pointer parameter of an entry.
struct PointerParameter {
  const PtxFunction* entry = nullptr;
  std::size_t index = 0;  ///< among the entry's parameters
};

/// One instruction that writes buffers, or reads them through the path that is not kept coherent.
struct BufferAccess {
  const PtxFunction* function = nullptr;
  std::size_t instruction = 0;
  std::uint64_t parameters = 0;  ///< as in BufferTraffic
  bool is_write = false;
};

/// Which buffers a module writes, and which it reads through the path that is not kept coherent
/// within a launch (`ld.global.nc`, `ldu`).
struct BufferTraffic {
  /// bit i of a mask stands for parameters[i]; 64 at most
  std::vector<PointerParameter> parameters;
  /// stores, atomics, reductions, bulk copies out of shared memory
  std::uint64_t written = 0;
  std::uint64_t read_noncoherently = 0;
  std::vector<BufferAccess> accesses;  ///< that can be traced
  /// such reads whose address comes from no parameter that is known here
  std::size_t untraced_reads = 0;
  std::size_t untraced_writes = 0;  ///< likewise of writes
};

/// Follows addresses from the entries' 64-bit parameters through registers and calls without regard
/// to order: what may be a pointer into a buffer counts as one. Pointers that pass through memory,
/// and numbers made of pointers, are not followed: no buffer is named in vain. Linear in the size
/// of the module, which outlives the result.
[[nodiscard]] BufferTraffic buffer_traffic(const PtxModule& module);

}  // namespace warpath::cuda
