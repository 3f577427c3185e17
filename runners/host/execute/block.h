#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runners/host/execute/buffer.h"
#include "runners/host/execute/module.h"
#include "runners/host/execute/unordered_stores.h"

namespace warpath::host {

enum class Schedule : std::uint8_t { forward, reverse, random };
/// Of the arithmetic of all threads of a launch.
enum class Rounding : std::uint8_t { nearest, upward, downward };

/// What all blocks of a launch share; immutable while it runs.
struct BlockPlan {
  const Module* module = nullptr;
  void* const* arguments = nullptr;  ///< address of each parameter's value
  WarpathIndex grid{1, 1, 1}, block{1, 1, 1};
  std::size_t dynamic_shared_bytes = 0;
  /// Fills shared memory before each block; nullopt: it keeps what the block before left there, of
  /// this launch or another.
  std::optional<std::uint32_t> poison = UINT32_MAX;
  bool fibers = false;
  bool interleaved = false;    ///< of fibers: threads switch at accesses to memory too
  bool orders_stores = false;  ///< likewise, of blocks one after another: UnorderedStores
  std::uint64_t seed = 0;      ///< of those switches
  /// of code that tells of its accesses: beside which none may be made; some may be empty
  std::span<const Buffer> tensors{};
  std::vector<WarpathIndex> indices;        ///< of the threads, in linear order
  std::vector<WarpathIndex> plain_indices;  ///< the same, in schedule order
  std::vector<std::uint32_t> warp_order;  ///< order in which warps, and lanes of one, are scheduled
  std::vector<std::uint32_t> lane_order;  ///< [32]
};

enum class BlockEnd : std::uint8_t {
  done,
  needs_fibers,  ///< the plain loop met a barrier or warp operation
  deadlock,      ///< some threads wait for others that will never arrive
  misaligned,    ///< an access that a GPU refuses, of code whose accesses are told
  fault,         ///< assertion, trap
};

/// An access to the memory around a tensor of BlockPlan, or around the block's shared memory.
struct OutsideAccess {
  static constexpr std::int32_t kShared = INT32_MAX;

  std::int32_t tensor = -1;  ///< or kShared; -1: none
  /// Of its first byte outside, relative to the tensor's begin; to that of shared memory where it
  /// lies before it, otherwise to its end.
  std::int64_t offset = 0;
  auto operator<=>(const OutsideAccess&) const = default;
};

/// Runs blocks on one OS thread, one after another: stacks, the dynamic shared arena and the
/// scheduler of a block's threads. Construct and use it on that thread only.
///
/// Plain: the threads run to completion one after another on one stack. Fibers: each thread has its
/// own stack and runs until it must wait. A warp operation completes when every lane of its mask
/// that has not returned waits at the same operation with the same mask; a barrier when every
/// thread of the block waits at it.
class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Allocates memory for `plan`; call before the first block of a launch. False if memory is
  /// short.
  [[nodiscard]] bool bind(const BlockPlan& plan);
  [[nodiscard]] BlockEnd run(const WarpathIndex& block_index);
  /// A description of the deadlock or fault.
  [[nodiscard]] const std::string& detail() const { return detail_; }
  /// The least one since bind().
  [[nodiscard]] const OutsideAccess& outside() const { return outside_; }
  /// The first one since bind().
  [[nodiscard]] const std::optional<UnorderedStore>& unordered() const {
    return unordered_stores_.found();
  }

  /// True if `address` is in a guard page below one of this runner's stacks. Async-signal-safe.
  [[nodiscard]] bool in_stack_guard(const void* address) const;
  /// True if `address` is just behind the dynamic shared arena. Async-signal-safe.
  [[nodiscard]] bool in_shared_guard(const void* address) const;

  /// Address space taken by the stacks of a block of `threads` threads.
  [[nodiscard]] static std::size_t stack_bytes(std::size_t threads);

  // Called from kernel code through the exported functions.
  int barrier(int kind, int predicate);
  unsigned long long warp(int op, unsigned mask, unsigned long long value, int argument, int width);
  void yield();
  void access(const volatile void* address, std::size_t bytes, WarpathAccess kind);
  void pause();
  [[noreturn]] void fault(int kind, const char* text, int line);

 private:
  struct Lane {
    int op = 0;
    unsigned mask = 0;
    unsigned long long value = 0;
    int argument = 0;
    int width = 32;
    unsigned long long result = 0;
  };
  struct Warp {
    unsigned present = 0, alive = 0, runnable = 0, at_barrier = 0;
    unsigned pending = 0;  // waiting at a warp operation
    Lane lanes[32];
  };
  struct Memory {  // one mapping, freed on destruction
    std::byte* begin = nullptr;
    std::size_t size = 0;
    Memory() = default;
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    [[nodiscard]] bool map(std::size_t bytes);
  };

  static constexpr std::size_t kThreadStack =
      128 << 10;  // a device thread's local memory is rarely more
  /// Not accessible behind the dynamic shared memory: more than a block of any device has.
  static constexpr std::size_t kSharedGuard = std::size_t{256} << 10U;

  [[nodiscard]] bool reserve_stacks(std::size_t count);
  [[nodiscard]] bool reserve_shared(std::size_t bytes);
  [[nodiscard]] BlockEnd run_plain();
  [[nodiscard]] BlockEnd run_fibers();
  void start_threads();
  void run_warp(std::uint32_t warp_index);
  void resume(std::uint32_t thread);
  void leave();  // from a thread to the scheduler
  void complete_groups(Warp& warp);
  bool try_complete(Warp& warp, unsigned lane);
  void complete_active_mask(Warp& warp);
  [[nodiscard]] bool release_barrier();
  void describe_deadlock();
  [[noreturn]] void thread_main();
  [[noreturn]] void plain_main();
  friend struct Trampoline;
  /// Where memory is that kernel code may have to do with, shared memory aside.
  void know_memory();
  [[nodiscard]] std::optional<std::int64_t> outside_shared(const void* address,
                                                           std::size_t bytes) const;
  void note(const OutsideAccess& found);
  void look_at(const volatile void* address, std::size_t bytes);
  void switch_threads();
  void settle();

  const BlockPlan* plan_ = nullptr;
  Memory stacks_, plain_stack_, shared_memory_;
  std::size_t stack_count_ = 0;
  std::byte* dynamic_shared_ = nullptr;
  std::size_t dynamic_capacity_ = 0;
  std::byte* static_shared_ = nullptr;
  std::vector<std::span<const std::byte>> known_;  // by know_memory(), of an interleaved plan

  void* scheduler_ = nullptr;    // context to return to
  std::vector<void*> contexts_;  // one per thread
  std::vector<Warp> warps_;
  std::vector<int> barrier_kind_, barrier_predicate_;
  int barrier_result_ = 0;
  std::uint32_t current_ = 0, finished_ = 0;
  OutsideAccess outside_;
  UnorderedStores unordered_stores_;
  bool yielded_ = false;
  std::uint64_t draws_ = 0, most_between_ = 1;
  std::int64_t until_switch_ = 0, switches_left_ = 0;
  int pauses_left_ = 0;
  BlockEnd end_ = BlockEnd::done;
  std::string detail_;
};

}  // namespace warpath::host
