#include "runners/cuda/driver/occupancy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/round_up.h"

namespace warpath::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kPartitions = 4;
constexpr int kRegisterUnit = 256;  // a warp
constexpr std::int64_t kSmemUnit = 128;
constexpr int kMaxRegistersPerThread = 255;

int warps_of(int threads) {
  return (threads + kWarp - 1) / kWarp;
}

int blocks_by_registers(const DeviceLimits& device, const BlockNeeds& block) {
  if (block.registers_per_thread <= 0) return device.blocks_per_sm;
  const int per_warp = round_up(block.registers_per_thread * kWarp, kRegisterUnit);
  const int warps_per_partition = device.registers_per_sm / kPartitions / per_warp;
  return warps_per_partition * kPartitions / std::max(1, warps_of(block.threads));
}

int blocks_by_smem(const DeviceLimits& device, const BlockNeeds& block) {
  const std::int64_t used = round_up(
      block.static_smem_bytes + block.dynamic_smem_bytes + device.reserved_smem_bytes, kSmemUnit);
  return used <= 0 ? device.blocks_per_sm : static_cast<int>(device.smem_per_sm_bytes / used);
}

std::string above(std::string_view what, std::int64_t value, std::int64_t limit) {
  return std::string(what) + " " + std::to_string(value) + " exceeds this device's " +
         std::to_string(limit);
}

}  // namespace

Occupancy occupancy(const DeviceLimits& device, const BlockNeeds& block, std::int64_t blocks) {
  Occupancy result;
  const int warps_per_sm = device.threads_per_sm / kWarp;
  if (block.threads <= 0 || warps_per_sm <= 0) return result;
  const int warps = warps_of(block.threads);
  const std::array<std::pair<int, std::string_view>, 4> bounds{{
      {warps_per_sm / warps, "threads"},
      {device.blocks_per_sm, "blocks"},
      {blocks_by_registers(device, block), "registers"},
      {blocks_by_smem(device, block), "shared memory"},
  }};
  const auto least = std::ranges::min_element(bounds, {}, &std::pair<int, std::string_view>::first);
  result.blocks_per_sm = least->first;
  result.limit = least->second;
  result.active_warps_per_sm = result.blocks_per_sm * warps;
  result.fraction = static_cast<double>(result.active_warps_per_sm) / warps_per_sm;
  const std::int64_t at_once = std::int64_t{result.blocks_per_sm} * device.multiprocessors;
  if (at_once > 0 && blocks > 0) {
    result.waves = static_cast<double>(blocks) / static_cast<double>(at_once);
    const std::int64_t last = blocks % at_once;
    result.tail_fraction = last == 0 ? 1 : static_cast<double>(last) / static_cast<double>(at_once);
  }
  return result;
}

std::string limits_problem(const DeviceLimits& device,
                           const BlockNeeds& block,
                           const LaunchNumbers& launch) {
  if (std::string problem = launch_problem(launch); !problem.empty()) return problem;
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > device.threads_per_block)
    return above("threads a block", threads, device.threads_per_block);
  const std::int64_t smem = block.static_smem_bytes + launch.dynamic_smem_bytes;
  if (smem > device.smem_per_block_bytes)
    return above("shared memory a block", smem, device.smem_per_block_bytes);
  if (block.registers_per_thread > kMaxRegistersPerThread)
    return above("registers a thread", block.registers_per_thread, kMaxRegistersPerThread);
  const std::int64_t warps = (threads + kWarp - 1) / kWarp;
  const std::int64_t registers =
      warps * round_up(block.registers_per_thread * kWarp, kRegisterUnit);
  if (registers > device.registers_per_block)
    return above("registers a block", registers, device.registers_per_block);
  const std::int64_t cluster = launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
  if (cluster > 1 && device.compute_major < 9) return "clusters need compute capability 9.0";
  return "";
}

}  // namespace warpath::cuda
