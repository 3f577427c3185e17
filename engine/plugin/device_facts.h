#pragma once

#include <cstdint>
#include <string>

namespace warpath {

/// What moves and runners may know of the device; probed, never taken from a table.
struct DeviceFacts {
  std::string runner;       ///< "host", "cuda", "synthetic", "replay"
  std::string name;         ///< CPU or GPU model
  std::string arch;         ///< "sm_90a"; empty on the host
  int multiprocessors = 0;  ///< cores on the host
  int max_threads_per_block = 1024;
  std::int64_t max_smem_per_block_bytes = 48 << 10;
  bool is_gpu = false;
  bool operator==(const DeviceFacts&) const = default;
};

}  // namespace warpath
