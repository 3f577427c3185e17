#include "runners/host/execute/block.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <cstring>
#include <utility>

#include "engine/base/rng.h"
#include "engine/base/round_up.h"
#include "runners/host/execute/buffer.h"
#include "runners/host/execute/warp_operation.h"

namespace warpath::host {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kPlainStack = 1 << 20;
constexpr std::size_t kSharedAlignment = 128;

thread_local BlockRunner* running = nullptr;

void fill(std::byte* begin, std::size_t size, std::uint32_t word) {
  constexpr std::uint32_t kEveryByte = 0x01010101;
  if (word == (word & 0xffU) * kEveryByte) {  // of timed launches
    std::memset(begin, static_cast<int>(word & 0xffU), size);
    return;
  }
  for (std::size_t at = 0; at < size; at += sizeof word)
    std::memcpy(begin + at, &word, std::min(sizeof word, size - at));
}

/// What a lane has that takes no part in a warp operation: no number, or one beyond most others.
unsigned long long absent_lane(std::uint64_t seed) {
  constexpr unsigned long long kValues[] = {~0ULL, 0x7fefffff7f7fffffULL, 0xffefffffff7fffffULL};
  return kValues[mix64(seed) % std::size(kValues)];
}

}  // namespace

/// Entered on a fresh stack: remembers the scheduler's context and runs kernel code.
struct Trampoline {
  static void thread(context::transfer_t from) {
    running->scheduler_ = from.fctx;
    running->thread_main();
  }
  static void plain(context::transfer_t from) {
    running->scheduler_ = from.fctx;
    running->plain_main();
  }
};

BlockRunner::Memory::~Memory() {
  if (begin != nullptr) ::munmap(begin, size);
}

bool BlockRunner::Memory::map(std::size_t bytes) {
  if (begin != nullptr) ::munmap(begin, size);
  begin = nullptr;
  void* const address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) return false;
  begin = static_cast<std::byte*>(address);
  size = bytes;
  return true;
}

BlockRunner::BlockRunner() {
  running = this;
}
BlockRunner::~BlockRunner() {
  running = nullptr;
}

std::size_t BlockRunner::stack_bytes(std::size_t threads) {
  return threads * (kPage + kThreadStack);
}

bool BlockRunner::reserve_stacks(std::size_t count) {
  if (plain_stack_.begin == nullptr) {
    if (!plain_stack_.map(kPage + kPlainStack)) return false;
    ::mprotect(plain_stack_.begin, kPage, PROT_NONE);
  }
  if (count <= stack_count_) return true;
  stack_count_ = 0;
  if (!stacks_.map(stack_bytes(count))) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (::mprotect(stacks_.begin + i * (kPage + kThreadStack), kPage, PROT_NONE) != 0) return false;
  }
  stack_count_ = count;
  return true;
}

bool BlockRunner::reserve_shared(std::size_t bytes) {
  const std::size_t capacity = round_up(std::max<std::size_t>(bytes, 1), kPage);
  if (capacity > dynamic_capacity_) {
    dynamic_capacity_ = 0;
    if (!shared_memory_.map(capacity + kSharedGuard)) return false;
    ::mprotect(shared_memory_.begin + capacity, kSharedGuard, PROT_NONE);
    dynamic_capacity_ = capacity;
  }
  // The end lies at the guard, so that an access past it faults.
  dynamic_shared_ = shared_memory_.begin + dynamic_capacity_ - round_up(bytes, kSharedAlignment);
  return true;
}

bool BlockRunner::bind(const BlockPlan& plan) {
  plan_ = &plan;
  const std::size_t threads = plan.indices.size();
  if (!reserve_stacks(plan.fibers ? threads : 0) || !reserve_shared(plan.dynamic_shared_bytes))
    return false;
  static_shared_ = static_cast<std::byte*>(plan.module->shared());
  outside_ = {};
  if (plan.interleaved) know_memory();
  if (plan.orders_stores) {
    unordered_stores_.begin(plan.tensors, std::uint64_t{plan.grid.x} * plan.grid.y * plan.grid.z,
                            threads);
  }
  if (plan.fibers) {
    contexts_.assign(threads, nullptr);
    warps_.assign((threads + 31) / 32, Warp{});
    barrier_kind_.assign(threads, -1);
    barrier_predicate_.assign(threads, 0);
  }
  warpath_thread.block_dim = plan.block;
  warpath_thread.grid_dim = plan.grid;
  warpath_thread.dynamic_shared = dynamic_shared_;
  constexpr std::int64_t kMostSwitches = 1'000'000;
  switches_left_ = kMostSwitches;
  constexpr int kMostPauses = 300;
  pauses_left_ = kMostPauses;
  return true;
}

BlockEnd BlockRunner::run(const WarpathIndex& block_index) {
  warpath_thread.block_index = block_index;
  if (plan_->poison) {
    if (static_shared_ != nullptr)
      fill(static_shared_, plan_->module->shared_bytes(), *plan_->poison);
    fill(dynamic_shared_, round_up(plan_->dynamic_shared_bytes, kSharedAlignment), *plan_->poison);
  }
  end_ = BlockEnd::done;
  const std::uint64_t linear =
      (std::uint64_t{block_index.z} * plan_->grid.y + block_index.y) * plan_->grid.x +
      block_index.x;
  if (plan_->orders_stores) unordered_stores_.begin_block(linear);
  if (plan_->interleaved) {
    constexpr std::uint64_t kMostBetween[] = {2, 5, 16, 64};
    draws_ = linear << 32U;
    most_between_ = kMostBetween[mix64(plan_->seed + ++draws_) % std::size(kMostBetween)];
    until_switch_ = 1;
  }
  return plan_->fibers ? run_fibers() : run_plain();
}

BlockEnd BlockRunner::run_plain() {
  std::byte* const top = plain_stack_.begin + plain_stack_.size;
  context::jump_fcontext(context::make_fcontext(top, kPlainStack, &Trampoline::plain), nullptr);
  return end_;
}

void BlockRunner::plain_main() {
  plan_->module->entry().run_threads(plan_->arguments, plan_->plain_indices.data(),
                                     static_cast<unsigned>(plan_->plain_indices.size()));
  leave();
  __builtin_unreachable();
}

void BlockRunner::thread_main() {
  plan_->module->entry().run_thread(plan_->arguments);
  settle();
  Warp& warp = warps_[current_ / 32];
  const unsigned bit = 1U << (current_ % 32);
  warp.alive &= ~bit;
  warp.runnable &= ~bit;
  ++finished_;
  complete_groups(warp);  // the others no longer wait for this lane
  leave();
  __builtin_unreachable();
}

void BlockRunner::start_threads() {
  const auto count = static_cast<std::uint32_t>(plan_->indices.size());
  finished_ = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::byte* const top = stacks_.begin + (i + 1) * (kPage + kThreadStack);
    contexts_[i] = context::make_fcontext(top, kThreadStack, &Trampoline::thread);
  }
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const std::size_t lanes = std::min<std::size_t>(32, count - w * 32);
    Warp& warp = warps_[w];
    warp.present = lanes == 32 ? ~0U : (1U << lanes) - 1U;
    warp.alive = warp.runnable = warp.present;
    warp.at_barrier = 0;
    warp.pending = 0;
  }
}

BlockEnd BlockRunner::run_fibers() {
  start_threads();
  while (true) {
    for (const std::uint32_t w : plan_->warp_order) {
      run_warp(w);
      if (end_ != BlockEnd::done) return end_;
    }
    if (finished_ == plan_->indices.size()) return BlockEnd::done;
    const bool any_runnable =
        std::any_of(warps_.begin(), warps_.end(), [](const Warp& w) { return w.runnable != 0; });
    if (any_runnable || release_barrier()) continue;
    describe_deadlock();
    return BlockEnd::deadlock;
  }
}

void BlockRunner::run_warp(std::uint32_t warp_index) {
  Warp& warp = warps_[warp_index];
  while (warp.runnable != 0) {
    for (const std::uint32_t lane : plan_->lane_order) {
      if ((warp.runnable >> lane & 1U) == 0) continue;
      resume(warp_index * 32 + lane);
      if (end_ != BlockEnd::done) return;
    }
    complete_active_mask(warp);
    if (std::exchange(yielded_, false))
      return;  // some lane waits for another warp's memory: let that run
  }
}

void BlockRunner::resume(std::uint32_t thread) {
  current_ = thread;
  warpath_thread.thread_index = plan_->indices[thread];
  contexts_[thread] = context::jump_fcontext(contexts_[thread], nullptr).fctx;
}

void BlockRunner::leave() {
  scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
}

void BlockRunner::yield() {
  if (!plan_->fibers) {
    end_ = BlockEnd::needs_fibers;
  } else {
    yielded_ = true;
  }
  leave();
}

void BlockRunner::access(const volatile void* address, std::size_t bytes, WarpathAccess kind) {
  if (!plan_->interleaved) return;
  settle();
  if (kind == kWarpathFence) {
    if (plan_->orders_stores) unordered_stores_.fence();
    return;
  }
  look_at(address, bytes);
  switch_threads();
  if (plan_->orders_stores && kind != kWarpathRead)
    unordered_stores_.before_store(current_, address, bytes, kind == kWarpathAtomic);
}

/// What the thread was about to store is there.
void BlockRunner::settle() {
  if (plan_->orders_stores) unordered_stores_.settle(current_);
}

/// Switches threads between two accesses to memory: updates that are not atomic are lost, and
/// values not protected by a barrier are read too early.
void BlockRunner::switch_threads() {
  if (--until_switch_ > 0) return;
  const std::uint64_t drawn = mix64(plan_->seed + ++draws_);
  until_switch_ = 1 + static_cast<std::int64_t>(drawn % most_between_);
  if (--switches_left_ <= 0) return;
  if ((drawn >> 8U & 1U) != 0) yielded_ = true;
  constexpr std::uint64_t kPauseEvery = 32;
  if ((drawn >> 16U) % kPauseEvery == 0) pause();
  leave();
}

/// Blocks on other OS threads see a block all of whose threads are between two accesses.
void BlockRunner::pause() {
  if (pauses_left_ <= 0) return;
  --pauses_left_;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 50'000};
  ::nanosleep(&kPause, nullptr);
}

int BlockRunner::barrier(int kind, int predicate) {
  if (!plan_->fibers) {
    end_ = BlockEnd::needs_fibers;
    leave();
  }
  settle();
  barrier_kind_[current_] = kind;
  barrier_predicate_[current_] = predicate;
  Warp& warp = warps_[current_ / 32];
  const unsigned bit = 1U << (current_ % 32);
  warp.runnable &= ~bit;
  warp.at_barrier |= bit;
  leave();
  return barrier_result_;
}

bool BlockRunner::release_barrier() {
  for (const auto& warp : warps_) {
    if (warp.at_barrier != warp.present) return false;
  }
  const int kind = barrier_kind_[0];
  int count = 0;
  for (std::size_t i = 0; i < barrier_kind_.size(); ++i) {
    if (barrier_kind_[i] != kind) return false;
    count += barrier_predicate_[i] != 0 ? 1 : 0;
  }
  const bool all = count == static_cast<int>(barrier_kind_.size());
  barrier_result_ = kind == kWarpathBarrierCount ? count
                    : kind == kWarpathBarrierAnd ? (all ? 1 : 0)
                                                 : (count > 0 ? 1 : 0);
  for (auto& warp : warps_) warp.runnable = std::exchange(warp.at_barrier, 0U);
  if (plan_->orders_stores) unordered_stores_.barrier();
  return true;
}

unsigned long long BlockRunner::warp(
    int op, unsigned mask, unsigned long long value, int argument, int width) {
  if (!plan_->fibers) {
    end_ = BlockEnd::needs_fibers;
    leave();
  }
  settle();
  Warp& warp = warps_[current_ / 32];
  const unsigned lane = current_ % 32;
  if ((mask >> lane & 1U) == 0) {
    detail_ = "thread " + std::to_string(current_) +
              " takes part in a warp operation whose mask leaves its lane out";
    end_ = BlockEnd::fault;
    leave();
  }
  warp.lanes[lane] = {
      .op = op, .mask = mask, .value = value, .argument = argument, .width = width, .result = 0};
  warp.pending |= 1U << lane;
  if (op == kWarpathActiveMask || !try_complete(warp, lane)) {
    warp.runnable &= ~(1U << lane);
    leave();
  }
  return warp.lanes[lane].result;
}

bool BlockRunner::try_complete(Warp& warp, unsigned lane) {
  const Lane& first = warp.lanes[lane];
  const unsigned group = first.mask & warp.alive;
  if ((group & ~warp.pending) != 0) return false;
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {
    const Lane& other = warp.lanes[std::countr_zero(rest)];
    if (other.op != first.op || other.mask != first.mask) return false;
  }
  WarpOperands operands;
  operands.active = group;
  operands.absent = absent_lane(plan_->seed);
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    operands.value[i] = warp.lanes[i].value;
  }
  const int op = first.op;
  for (unsigned rest = group; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    warp.lanes[i].result =
        warp_result(op, operands, i, warp.lanes[i].argument, warp.lanes[i].width);
  }
  warp.pending &= ~group;
  warp.runnable |= group;
  if (plan_->orders_stores)
    unordered_stores_.warp_operation(static_cast<std::size_t>(&warp - warps_.data()));
  return true;
}

void BlockRunner::complete_groups(Warp& warp) {
  for (unsigned rest = warp.alive & warp.pending; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    // a group completed on the way is no longer pending
    if ((warp.pending >> i & 1U) != 0 && warp.lanes[i].op != kWarpathActiveMask)
      try_complete(warp, i);
  }
}

/// Once no lane of the warp can go on: those that wait for the mask are the active ones.
void BlockRunner::complete_active_mask(Warp& warp) {
  if (warp.runnable != 0) return;
  unsigned group = 0;
  for (unsigned rest = warp.alive & warp.pending; rest != 0; rest &= rest - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(rest));
    if (warp.lanes[i].op == kWarpathActiveMask) group |= 1U << i;
  }
  for (unsigned rest = group; rest != 0; rest &= rest - 1)
    warp.lanes[std::countr_zero(rest)].result = group;
  warp.pending &= ~group;
  warp.runnable |= group;
}

void BlockRunner::describe_deadlock() {
  std::size_t at_barrier = 0, at_warp = 0;
  for (const auto& warp : warps_) {
    at_barrier += static_cast<std::size_t>(std::popcount(warp.at_barrier));
    at_warp += static_cast<std::size_t>(std::popcount(warp.alive & warp.pending));
  }
  const auto& b = warpath_thread.block_index;
  detail_ = "divergent barrier in block (" + std::to_string(b.x) + "," + std::to_string(b.y) + "," +
            std::to_string(b.z) + "): of " + std::to_string(plan_->indices.size()) + " threads " +
            std::to_string(at_barrier) + " wait at a block barrier, " + std::to_string(at_warp) +
            " at a warp operation, " + std::to_string(finished_) + " have returned";
}

void BlockRunner::fault(int kind, const char* text, int line) {
  const auto &b = warpath_thread.block_index, &t = warpath_thread.thread_index;
  const auto triple = [](const WarpathIndex& i) {
    return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
  };
  const bool misaligned = kind == kWarpathFaultAlignment;
  const bool asserted = kind == kWarpathFaultAssert;
  detail_ = misaligned ? "misaligned address: " : asserted ? "assertion failed: " : "trap: ";
  detail_ += std::string(text).substr(0, 200) + ", line " + std::to_string(line) + ", block " +
             triple(b) + " thread " + triple(t);
  end_ = misaligned ? BlockEnd::misaligned : BlockEnd::fault;
  leave();
  __builtin_unreachable();
}

}  // namespace warpath::host

// What kernel code calls. Every OS thread that runs blocks has one BlockRunner.
extern "C" {
__thread WarpathThread warpath_thread;
int warpath_barrier(int kind, int predicate) {
  return warpath::host::running->barrier(kind, predicate);
}
unsigned long long warpath_warp(
    int op, unsigned mask, unsigned long long value, int argument, int width) {
  return warpath::host::running->warp(op, mask, value, argument, width);
}
void warpath_yield() {
  warpath::host::running->yield();
}
void warpath_access(const volatile void* address, unsigned long bytes, int kind) {
  if (warpath::host::running != nullptr)
    warpath::host::running->access(address, bytes, static_cast<WarpathAccess>(kind));
}
void warpath_pause() {
  if (warpath::host::running != nullptr) warpath::host::running->pause();
}
void warpath_fault(int fault, const char* text, int line) {
  warpath::host::running->fault(fault, text, line);
}
}
