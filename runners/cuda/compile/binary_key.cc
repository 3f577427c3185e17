#include "runners/cuda/compile/binary_key.h"

namespace warpath::cuda {
namespace {

void add(Hasher& hasher, const LaunchNumbers& launch) {
  for (const auto& axes : {launch.grid, launch.block, launch.cluster}) {
    for (const std::int64_t count : axes) hasher.add(count);
  }
  hasher.add(launch.dynamic_smem_bytes);
}

void add(Hasher& hasher, const std::vector<StepNumbers>& steps) {
  hasher.add(static_cast<std::uint64_t>(steps.size()));
  for (const StepNumbers& step : steps) {
    hasher.add(static_cast<std::uint64_t>(step.kind)).add(step.kernel_name);
    add(hasher, step.launch);
    hasher.add(static_cast<std::uint64_t>(step.arguments.size()));
    for (const std::uint32_t argument : step.arguments)
      hasher.add(static_cast<std::uint64_t>(argument));
  }
}

void add(Hasher& hasher, const ExtraNumbers& extra) {
  if (extra == ExtraNumbers{}) return;
  hasher.add("extras").add(static_cast<std::uint64_t>(extra.scratch_bytes.size()));
  for (const std::int64_t bytes : extra.scratch_bytes) hasher.add(bytes);
  add(hasher, extra.before);
  add(hasher, extra.after);
}

}  // namespace

std::string binary_key(std::span<const BinaryUse> uses) {
  Hasher hasher;
  hasher.add("binary").add(static_cast<std::uint64_t>(uses.size()));
  for (const BinaryUse& use : uses) {
    hasher.add(use.code_hash);
    add(hasher, use.launch);
    add(hasher, use.extra);
  }
  return hasher.digest().hex();
}

}  // namespace warpath::cuda
