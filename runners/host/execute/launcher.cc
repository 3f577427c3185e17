#include "runners/host/execute/launcher.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <ctime>
#include <numeric>

#include "engine/base/rng.h"
#include "runners/host/execute/fault.h"

namespace warpath::host {
namespace {

constexpr int kMaxLanes = 512;
constexpr std::size_t kMaxMappings = 40000;  // below the kernel's default of 65530; a stack is two

std::array<std::atomic<const BlockRunner*>, kMaxLanes> living{};

/// Lanes whose stacks the process has room for: within a quarter of its address space (stacks of
/// smaller blocks are kept) and the mappings that the kernel allows it.
std::size_t lanes_with_stacks(std::size_t threads) {
  rlimit space{};
  const bool limited = ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
  const std::size_t by_mappings = kMaxMappings / (2 * threads);
  const std::size_t by_space =
      limited ? static_cast<std::size_t>(space.rlim_cur) / 4 / BlockRunner::stack_bytes(threads)
              : by_mappings;
  return std::max<std::size_t>(1, std::min(by_mappings, by_space));
}

/// Lists a runner for guard_hit while it lives.
class Listed {
 public:
  Listed(int lane, const BlockRunner* runner)
      : slot_(living[static_cast<std::size_t>(lane) % kMaxLanes]) {
    slot_ = runner;
  }
  ~Listed() { slot_ = nullptr; }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::atomic<const BlockRunner*>& slot_;
};

std::vector<std::uint32_t> ordered(std::uint32_t count, Schedule schedule, Rng& rng) {
  if (schedule == Schedule::random) return rng.permutation(count);
  std::vector<std::uint32_t> out(count);
  std::iota(out.begin(), out.end(), 0U);
  if (schedule == Schedule::reverse) std::reverse(out.begin(), out.end());
  return out;
}

WarpathIndex index_of(const std::array<std::int64_t, 3>& a) {
  return {static_cast<unsigned>(a[0]), static_cast<unsigned>(a[1]), static_cast<unsigned>(a[2])};
}

BlockPlan make_plan(const Launch& launch) {
  BlockPlan plan;
  plan.module = launch.module;
  plan.arguments = launch.arguments;
  plan.grid = index_of(launch.numbers.grid);
  plan.block = index_of(launch.numbers.block);
  plan.dynamic_shared_bytes = static_cast<std::size_t>(launch.numbers.dynamic_smem_bytes);
  plan.poison = launch.poison;
  plan.fibers = launch.fibers || launch.interleaved;
  plan.interleaved = launch.interleaved;
  plan.orders_stores = launch.orders_stores;
  plan.seed = launch.seed;
  plan.tensors = launch.tensors;
  Rng rng(launch.seed, "host schedule");
  const std::uint32_t threads = plan.block.x * plan.block.y * plan.block.z;
  for (std::uint32_t i = 0; i < threads; ++i) {
    plan.indices.push_back(
        {i % plan.block.x, i / plan.block.x % plan.block.y, i / plan.block.x / plan.block.y});
  }
  for (const std::uint32_t i : ordered(threads, launch.schedule, rng))
    plan.plain_indices.push_back(plan.indices[i]);
  plan.warp_order = ordered((threads + 31) / 32, launch.schedule, rng);
  plan.lane_order = ordered(32, launch.schedule, rng);
  return plan;
}

/// Adds the CPU time that the calling thread spends while this lives.
class ThreadTime {
 public:
  explicit ThreadTime(std::atomic<std::int64_t>& sum_ns) : sum_ns_(sum_ns), begin_ns_(now_ns()) {}
  ~ThreadTime() { sum_ns_ += now_ns() - begin_ns_; }
  ThreadTime(const ThreadTime&) = delete;
  ThreadTime& operator=(const ThreadTime&) = delete;

 private:
  static std::int64_t now_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  }
  std::atomic<std::int64_t>& sum_ns_;
  std::int64_t begin_ns_;
};

/// The calling thread's arithmetic, and that of contexts it makes, rounds so while this lives.
class RoundsAs {
 public:
  explicit RoundsAs(Rounding rounding) {
    constexpr std::array<int, 3> kModes{FE_TONEAREST, FE_UPWARD, FE_DOWNWARD};
    std::fesetround(kModes.at(static_cast<std::size_t>(rounding)));
  }
  ~RoundsAs() { std::fesetround(FE_TONEAREST); }
  RoundsAs(const RoundsAs&) = delete;
  RoundsAs& operator=(const RoundsAs&) = delete;
};

}  // namespace

Launcher::Launcher(int threads) {
  for (int lane = 1; lane < std::min(threads, kMaxLanes); ++lane)
    threads_.emplace_back([this, lane] { serve(lane); });
}

Launcher::~Launcher() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
}

LaunchEnd Launcher::run(const Launch& launch) {
  plan_ = make_plan(launch);
  rounding_ = launch.rounding;
  const auto& grid = launch.numbers.grid;
  blocks_ = static_cast<std::uint64_t>(grid[0]) * static_cast<std::uint64_t>(grid[1]) *
            static_cast<std::uint64_t>(grid[2]);
  const std::size_t all_lanes = plan_.orders_stores ? 1 : threads_.size() + 1;
  const int lanes = static_cast<int>(
      plan_.fibers ? std::min(all_lanes, lanes_with_stacks(plan_.indices.size())) : all_lanes);
  chunk_ = std::clamp<std::uint64_t>(blocks_ / static_cast<std::uint64_t>(lanes * 16), 1, 64);
  descending_ = launch.schedule == Schedule::reverse;
  stride_ = 1, offset_ = 0;
  if (launch.schedule == Schedule::random && blocks_ > 1 &&
      blocks_ < (1ULL << 32U)) {  // i -> i * stride + offset (mod blocks) visits each block once
    Rng rng(launch.seed, "host blocks");
    do stride_ = 1 + rng.below(blocks_ - 1);
    while (std::gcd(stride_, blocks_) != 1);
    offset_ = rng.below(blocks_);
  }
  next_ = 0;
  abandoned_ = false;
  end_ = {};
  const Listed listed(0, &own_);
  cpu_ns_ = 0;
  if (lanes > 1) {
    const std::lock_guard lock(mutex_);
    ++generation_;
    usable_ = lanes;
    busy_ = static_cast<int>(threads_.size());
  }
  if (lanes > 1) wake_.notify_all();
  work(own_);
  if (lanes > 1) {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return busy_ == 0; });
  }
  if (plan_.orders_stores) end_.unordered = own_.unordered();
  const std::uint64_t chunks = (blocks_ + chunk_ - 1) / chunk_;
  const auto shared_by =
      std::min(static_cast<std::uint64_t>(lanes), std::max<std::uint64_t>(chunks, 1));
  end_.seconds = 1e-9 * static_cast<double>(cpu_ns_) / static_cast<double>(shared_by);
  return end_;
}

void Launcher::serve(int lane) {
  install_fault_stack();
  BlockRunner runner;
  const Listed listed(lane, &runner);
  std::uint64_t seen = 0;
  while (true) {
    bool takes_part = false;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return leaving_ || generation_ != seen; });
      if (leaving_) return;
      seen = generation_;
      takes_part = lane < usable_;
    }
    if (takes_part) work(runner);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) idle_.notify_one();
  }
}

void Launcher::work(BlockRunner& runner) {
  const ThreadTime time(cpu_ns_);
  const RoundsAs rounds(rounding_);
  bool bound = false;
  while (!abandoned_.load(std::memory_order_relaxed)) {
    const std::uint64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= blocks_) return;
    if (!bound && !runner.bind(plan_))
      return report(BlockEnd::fault, "not enough memory for the block's threads");
    bound = true;
    for (std::uint64_t i = begin; i < std::min(begin + chunk_, blocks_); ++i) {
      const auto position = descending_ ? blocks_ - 1 - i : (i * stride_ + offset_) % blocks_;
      const auto [x, y] = std::pair{static_cast<std::uint64_t>(plan_.grid.x),
                                    static_cast<std::uint64_t>(plan_.grid.y)};
      const WarpathIndex index{static_cast<unsigned>(position % x),
                               static_cast<unsigned>(position / x % y),
                               static_cast<unsigned>(position / x / y)};
      const BlockEnd end = runner.run(index);
      if (runner.outside().tensor >= 0) report(runner.outside());
      if (end != BlockEnd::done) return report(end, runner.detail());
    }
  }
}

void Launcher::report(BlockEnd end, const std::string& detail) {
  const std::lock_guard lock(mutex_);
  if (end_.end == BlockEnd::done || end_.end == BlockEnd::needs_fibers) {
    end_.end = end;
    end_.detail = detail;
  }
  abandoned_ = true;
}

void Launcher::report(const OutsideAccess& outside) {
  const std::lock_guard lock(mutex_);
  if (end_.outside.tensor < 0 || outside < end_.outside) end_.outside = outside;
}

GuardHit guard_hit(const void* address) {
  for (const auto& slot : living) {
    const BlockRunner* const runner = slot.load(std::memory_order_relaxed);
    if (runner == nullptr) continue;
    if (runner->in_stack_guard(address)) return GuardHit::stack;
    if (runner->in_shared_guard(address)) return GuardHit::shared_memory;
  }
  return GuardHit::none;
}

}  // namespace warpath::host
