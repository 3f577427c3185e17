#include "runners/cuda/binary_key.h"

namespace warpath::cuda {

std::string binary_key(std::span<const BinaryUse> uses) {
  Hasher hasher;
  hasher.add("binary").add(static_cast<std::uint64_t>(uses.size()));
  for (const BinaryUse& use : uses) {
    hasher.add(use.code_hash);
    for (const auto& axes : {use.launch.grid, use.launch.block, use.launch.cluster}) {
      for (const std::int64_t count : axes) hasher.add(count);
    }
    hasher.add(use.launch.dynamic_smem_bytes);
  }
  return hasher.digest().hex();
}

}  // namespace warpath::cuda
