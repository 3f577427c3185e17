#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "engine/spec/launch.h"
#include "runners/host/execute/block.h"

namespace warpath::host {

struct Launch {
  const Module* module = nullptr;
  void* const* arguments = nullptr;
  LaunchNumbers numbers;
  Schedule schedule = Schedule::forward;
  std::uint64_t seed = 0;                            ///< of the random schedule
  std::optional<std::uint32_t> poison = UINT32_MAX;  ///< of shared memory (BlockPlan)
  bool fibers = false;
  bool interleaved = false;           ///< BlockPlan
  bool orders_stores = false;         ///< BlockPlan
  std::span<const Buffer> tensors{};  ///< BlockPlan
  Rounding rounding = Rounding::nearest;
};

struct LaunchEnd {
  BlockEnd end = BlockEnd::done;
  std::string detail;
  /// CPU time of all blocks divided by the number of threads that can have run some: the duration
  /// on idle cores, whatever else runs on the machine.
  double seconds = 0;
  OutsideAccess outside{};  ///< the least one that the blocks' runners have seen
  std::optional<UnorderedStore> unordered;
};

/// Runs the blocks of a launch on a fixed set of OS threads, including the caller's, in schedule
/// order: ascending, descending, or a seeded permutation. One launch at a time.
class Launcher {
 public:
  explicit Launcher(int threads);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  [[nodiscard]] LaunchEnd run(const Launch& launch);

 private:
  void serve(int lane);
  void work(BlockRunner& runner);
  void report(BlockEnd end, const std::string& detail);
  void report(const OutsideAccess& outside);

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::uint64_t generation_ = 0;
  int busy_ = 0, usable_ = 0;
  bool leaving_ = false;

  BlockPlan plan_;
  Rounding rounding_ = Rounding::nearest;
  std::uint64_t blocks_ = 0, chunk_ = 1, stride_ = 1, offset_ = 0;
  bool descending_ = false;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> abandoned_{false};
  std::atomic<std::int64_t> cpu_ns_{0};
  LaunchEnd end_;

  BlockRunner own_;
  std::vector<std::thread> threads_;
};

/// Whether `address` is in the stack guard or shared-memory guard of any live BlockRunner. For
/// fault handlers.
enum class GuardHit : std::uint8_t { none, stack, shared_memory };
[[nodiscard]] GuardHit guard_hit(const void* address);

}  // namespace warpath::host
