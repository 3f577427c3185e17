#include "runners/host/execute/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <thread>

#include "engine/base/dtype.h"
#include "engine/base/rng.h"
#include "engine/spec/variant.h"
#include "runners/host/execute/fault.h"
#include "runners/host/execute/launcher.h"
#include "runners/host/execute/module.h"
#include "runners/host/execute/worker_protocol.h"
#include "runners/inputs/packed_parameters.h"
#include "runners/worker/frames.h"
#include "runners/worker/sandbox.h"

namespace warpath::host {
namespace {

constexpr std::uint64_t kMaxRequest = 1ULL << 36U;

// Ranges that the fault handler may look at; written between launches only.
constexpr std::size_t kMaxArguments = 256 + kMaxExtras;
std::array<const Buffer*, kMaxArguments> guarded{};
std::size_t guarded_count = 0;

void locate(const void* address, FaultRecord& record) {
  for (std::size_t i = 0; i < guarded_count; ++i) {
    if (guarded[i] == nullptr || !guarded[i]->in_fence(address, record.offset)) continue;
    record.where = FaultRecord::Where::tensor;
    record.tensor = static_cast<int>(i);
    return;
  }
  const GuardHit hit = guard_hit(address);
  if (hit == GuardHit::stack) record.where = FaultRecord::Where::stack;
  if (hit == GuardHit::shared_memory) record.where = FaultRecord::Where::shared_memory;
}

/// State between requests: one module with the kernels that launches run, one set of arguments.
class Worker {
 public:
  explicit Worker(int threads) : launcher_(threads) {}

  [[nodiscard]] LoadReply load(const LoadCommand& command, int object) {
    steps_.clear();
    module_ = Module();
    fibers_ = false;
    LoadReply reply;
    const std::string& path = command.path;
    module_ = Module(path, object, static_cast<std::size_t>(command.kernel), reply.problem);
    if (!module_) return reply;
    const auto parameters_of = [](const Module& module) {
      const auto& entry = module.entry();
      return std::vector(entry.parameters, entry.parameters + entry.parameter_count);
    };
    reply.parameters = parameters_of(module_);
    reply.static_shared_bytes = module_.shared_bytes();
    for (std::uint64_t i = 1; i <= command.steps; ++i) {
      steps_.emplace_back(path, object, static_cast<std::size_t>(command.kernel + i),
                          reply.problem);
      if (!steps_.back()) return reply;
      reply.steps.push_back(parameters_of(steps_.back()));
      reply.static_shared_bytes =
          std::max<std::uint64_t>(reply.static_shared_bytes, steps_.back().shared_bytes());
    }
    return reply;
  }

  [[nodiscard]] Bound bind(BindCommand command) {
    arguments_ = std::move(command.arguments);
    parameters_ = std::move(command.parameters);
    placed_.reset();
    return {.arguments = arguments_.size()};
  }

  [[nodiscard]] LaunchReply launch(const LaunchCommand& command) {
    LaunchReply reply;
    if (!place(command)) return short_of_memory();
    const auto state = module_.state();
    const LaunchEnd end = launch_once(command, state);
    finish(reply, command, end, state);
    reply.samples_ns = {end.seconds * 1e9};
    return reply;
  }

  [[nodiscard]] LaunchReply time(const TimeCommand& command) {
    using Clock = std::chrono::steady_clock;
    LaunchReply reply;
    // a kernel that looks at addresses takes another way where they are barely aligned
    constexpr std::uint64_t kTimedAlignment = 16;
    if (!place(command.launch, kTimedAlignment)) return short_of_memory();
    const auto state = module_.state();
    LaunchEnd end = launch_once(command.launch, state);  // warm-up
    std::vector<double> samples;
    const auto start = Clock::now();
    while (end.end == BlockEnd::done && static_cast<int>(samples.size()) < command.max_samples) {
      const double spent = std::chrono::duration<double>(Clock::now() - start).count();
      if (spent >= command.seconds && static_cast<int>(samples.size()) >= command.min_samples)
        break;
      end = launch_once(command.launch, state);
      samples.push_back(end.seconds * 1e9);
    }
    finish(reply, command.launch, end, state);
    reply.samples_ns = std::move(samples);
    return reply;
  }

 private:
  static LaunchReply short_of_memory() {
    LaunchReply reply;
    reply.end = BlockEnd::fault;
    reply.detail = "not enough memory for the tensors";
    return reply;
  }

  /// Memory for all tensors, guards armed, their addresses aligned to what the spec declares, at
  /// least to their elements and to `alignment`.
  bool place(const LaunchCommand& command, std::uint64_t alignment = 1) {
    const std::pair placement{command.placement, alignment};
    if (!placed_ || *placed_ != placement || scratch_bytes_ != command.scratch_bytes) {
      guarded_count = 0;
      placed_.reset();
      buffers_.clear();
      buffers_.reserve(arguments_.size() + command.scratch_bytes.size());  // guards point into it
      for (const auto& a : arguments_) {
        const std::uint64_t least = std::max<std::uint64_t>(alignment, info(a.dtype).size_bytes);
        buffers_.push_back(a.is_tensor ? Buffer(a.size_bytes, std::max(a.alignment_bytes, least),
                                                command.placement)
                                       : Buffer());
      }
      for (std::size_t i = 0; i < arguments_.size(); ++i) {
        if (arguments_[i].is_tensor && buffers_[i].data() == nullptr) return false;
        guarded.at(i) = arguments_[i].is_tensor ? &buffers_[i] : nullptr;
        if (arguments_[i].role == ArgRole::input && arguments_[i].is_tensor) restore(i);
      }
      scratch_bytes_ = command.scratch_bytes;
      for (const std::uint64_t bytes : scratch_bytes_) {
        buffers_.emplace_back(static_cast<std::size_t>(bytes), kScratchAlignment,
                              command.placement);
        if (buffers_.back().data() == nullptr) return false;
        guarded.at(buffers_.size() - 1) = &buffers_.back();
      }
      guarded_count = buffers_.size();
      placed_ = placement;
    }
    for (auto& buffer : buffers_) {
      if (buffer.data() != nullptr) buffer.arm(command.seed, command.guards);
    }
    values_.assign(buffers_.size(), nullptr);
    pointers_.assign(buffers_.size(), nullptr);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      values_[i] = buffers_[i].data();
      pointers_[i] = is_tensor(i) ? static_cast<void*>(&values_[i]) : arguments_[i].bytes.data();
    }
    return share(command);
  }

  /// Places both tensors of command.shared where the larger one is. False unless they are two
  /// tensors.
  bool share(const LaunchCommand& command) {
    const auto [first, second] = command.shared;
    if (first == second) return true;
    if (first >= arguments_.size() || second >= arguments_.size() || !arguments_[first].is_tensor ||
        !arguments_[second].is_tensor)
      return false;
    values_[first] = values_[second] =
        buffers_[buffers_[first].size() >= buffers_[second].size() ? first : second].data();
    return true;
  }

  /// True for scratch buffers too.
  [[nodiscard]] bool is_tensor(std::size_t i) const {
    return i >= arguments_.size() || arguments_[i].is_tensor;
  }

  void restore(std::size_t i) {
    std::copy(arguments_[i].bytes.begin(), arguments_[i].bytes.end(), buffers_[i].data());
  }

  void poison_outputs(std::uint64_t seed, bool over_results) {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!arguments_[i].is_tensor) continue;
      if (arguments_[i].role == ArgRole::inout) restore(i);
      if (arguments_[i].role != ArgRole::output) continue;
      std::vector<std::byte> before;
      if (over_results) before.assign(buffers_[i].data(), buffers_[i].data() + buffers_[i].size());
      fill_poison(buffers_[i].data(), buffers_[i].size(), arguments_[i].dtype, seed);
      leave_results(buffers_[i].data(), before, arguments_[i].dtype, ~seed);
    }
    for (std::size_t i = arguments_.size(); i < buffers_.size(); ++i)
      fill_poison(buffers_[i].data(), buffers_[i].size(), DType::u8, seed + i);
  }

  /// Starts with the plain loop and begins anew with fibers once a kernel turns out to need them,
  /// on variables of the module as they were, `state`.
  LaunchEnd launch_once(const LaunchCommand& command, const std::vector<std::byte>& state) {
    LaunchEnd end = run_all(command);
    if (end.end != BlockEnd::needs_fibers) return end;
    fibers_ = true;
    module_.restore(state);
    return run_all(command);
  }

  /// The main launch between its steps; the seconds of all of them.
  LaunchEnd run_all(const LaunchCommand& command) {
    poison_outputs(command.seed, command.over_results);
    if (const auto [first, second] = command.shared; first != second) {
      std::copy(arguments_[first].bytes.begin(), arguments_[first].bytes.end(),
                static_cast<std::byte*>(values_[first]));
    }
    LaunchEnd all;
    const auto add = [&](const LaunchEnd& end) {
      all.end = end.end;
      all.detail = end.detail;
      all.seconds += end.seconds;
      if (all.outside.tensor < 0) all.outside = end.outside;
      if (!all.unordered) all.unordered = end.unordered;
      return end.end == BlockEnd::done;
    };
    const auto steps = [&](const std::vector<StepCommand>& list) {
      return std::all_of(list.begin(), list.end(),
                         [&](const StepCommand& step) { return add(run_step(command, step)); });
    };
    const auto main = [&] {
      if (parameters_.empty()) return add(run_kernel(command, module_, command.numbers, pointers_));
      PackedParameters packed(parameters_, pointers_);
      return add(run_kernel(command, module_, command.numbers, packed.pointers()));
    };
    if (steps(command.before) && main()) steps(command.after);
    return all;
  }

  LaunchEnd run_step(const LaunchCommand& command, const StepCommand& step) {
    LaunchEnd end;
    if (step.zero) {
      const auto begin = std::chrono::steady_clock::now();
      for (const std::uint32_t i : step.arguments)
        std::fill_n(buffers_.at(i).data(), buffers_.at(i).size(), std::byte{0});
      end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      return end;
    }
    std::vector<void*> arguments;
    for (const std::uint32_t i : step.arguments) arguments.push_back(pointers_.at(i));
    return run_kernel(command, steps_.at(step.kernel), step.numbers, arguments);
  }

  LaunchEnd run_kernel(const LaunchCommand& command,
                       const Module& module,
                       const LaunchNumbers& numbers,
                       const std::vector<void*>& arguments) {
    constexpr std::array<std::uint32_t, 3> kOfSchedule{UINT32_MAX, 0x7f7f7f7f, 0xfefefefe};
    return launcher_.run(
        {.module = &module,
         .arguments = arguments.data(),
         .numbers = numbers,
         .schedule = command.schedule,
         .seed = command.seed,
         .poison =
             command.shared_contents > 0
                 ? kSharedContents[(command.shared_contents - std::size_t{1}) %
                                   kSharedContents.size()]
                 : kOfSchedule[static_cast<std::size_t>(command.schedule) % kOfSchedule.size()],
         .fibers = fibers_,
         .interleaved = command.interleaved,
         .orders_stores = command.orders_stores,
         .tensors =
             command.interleaved ? std::span<const Buffer>(buffers_) : std::span<const Buffer>(),
         .rounding = command.rounding});
  }

  void finish(LaunchReply& reply,
              const LaunchCommand& command,
              const LaunchEnd& end,
              const std::vector<std::byte>& state_before) {
    reply.end = end.end;
    reply.detail = end.detail;
    reply.fibers = fibers_;
    const auto state = module_.state();
    for (std::size_t i = 0; i < state.size(); ++i)
      reply.state_bytes_changed += state[i] != state_before[i] ? 1 : 0;
    if (const OutsideAccess& outside = end.outside; outside.tensor >= 0) {
      const bool shared = outside.tensor == OutsideAccess::kShared;
      const std::size_t size =
          shared ? 0 : buffers_[static_cast<std::size_t>(outside.tensor)].size();
      const std::int64_t past = outside.offset - static_cast<std::int64_t>(size);
      reply.guard_access = true;
      reply.guard_argument = shared ? -1 : outside.tensor;
      reply.guard_violation = outside.offset < 0
                                  ? std::to_string(-outside.offset) + " bytes before its begin"
                                  : std::to_string(past) + " bytes past its end";
    }
    if (end.unordered) {
      const auto by = [](const UnorderedStore::By& one) {
        return "thread " + std::to_string(one.thread) + " of block " + std::to_string(one.block);
      };
      reply.unordered_argument = static_cast<std::int32_t>(end.unordered->tensor);
      reply.unordered_detail = "byte " + std::to_string(end.unordered->offset) + " by " +
                               by(end.unordered->first) + " and " + by(end.unordered->second);
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (!is_tensor(i)) continue;
      const auto index = static_cast<std::int32_t>(i);
      if (std::string where = buffers_[i].violation(); !where.empty() && reply.guard_argument < 0) {
        reply.guard_argument = index;
        reply.guard_violation = std::move(where);
      }
      if (i >= arguments_.size()) continue;
      const auto& a = arguments_[i];
      const bool is_shared = values_[i] != buffers_[i].data() ||
                             (command.shared[0] != command.shared[1] && command.shared[0] == i);
      if (a.role == ArgRole::input && !is_shared &&
          !std::equal(a.bytes.begin(), a.bytes.end(), buffers_[i].data())) {
        if (reply.mutated_argument < 0) reply.mutated_argument = index;
        restore(i);
      }
      if (a.role != ArgRole::input)
        reply.outputs.emplace_back(static_cast<std::byte*>(values_[i]),
                                   static_cast<std::byte*>(values_[i]) + buffers_[i].size());
    }
    const auto [first, second] = command.shared;
    if (first == second) return;
    for (const std::uint32_t i : {first, second}) {
      if (arguments_.at(i).role == ArgRole::input) restore(i);
    }
  }

  static constexpr std::size_t kScratchAlignment = 256;  // as GPU allocators give

  Module module_;
  std::vector<Module> steps_;
  Launcher launcher_;
  bool fibers_ = false;
  std::vector<BoundArgument> arguments_;
  std::vector<ParameterLayout> parameters_;  ///< empty: each argument is one
  std::vector<Buffer> buffers_;              ///< of the arguments, then scratch
  std::vector<std::uint64_t> scratch_bytes_;
  std::optional<std::pair<Placement, std::uint64_t>> placed_;  ///< and the least alignment
  std::vector<void*> values_, pointers_;
};

/// nullopt unless it is a request that a started worker accepts.
std::optional<Reply> answer(Worker& worker, Request& request, int object) {
  if (auto* const load = std::get_if<LoadCommand>(&request)) return worker.load(*load, object);
  if (auto* const bind = std::get_if<BindCommand>(&request)) return worker.bind(std::move(*bind));
  if (auto* const launch = std::get_if<LaunchCommand>(&request)) return worker.launch(*launch);
  if (auto* const time = std::get_if<TimeCommand>(&request)) return worker.time(*time);
  return std::nullopt;
}

}  // namespace

int worker_main() {
  ::mallopt(M_ARENA_MAX,
            1);  // one malloc arena per thread would take 128 MiB of address space each
  ::signal(SIGPIPE, SIG_IGN);
  // The conversation moves to a descriptor of its own; whatever a kernel prints goes nowhere.
  const int link = ::fcntl(0, F_DUPFD_CLOEXEC, 64);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (link < 0 || null < 0) return 3;
  ::dup2(null, 0);
  ::dup2(null, 1);
  ::close(null);
  install_fault_stack();
  install_fault_handlers(link, encode(Reply(LastWords{})), &locate);
  std::string frame;
  Request request;
  if (read_frame(link, frame) != FrameStatus::done || !decode(frame, request)) return 0;
  const auto* const start = std::get_if<StartCommand>(&request);
  if (start == nullptr) return 0;
  // Nothing foreign is in this process yet; from the hello on it can do nothing but compute.
  ComputeOnly confinement;
  // A worker must not outlive its runner, even while a kernel loops for ever.
  std::thread([link] {
    pollfd watch{link, POLLRDHUP, 0};
    while (::poll(&watch, 1, -1) < 0) {
    }
    ::_exit(0);
  }).detach();

  Worker worker(std::clamp(start->threads, 1, 4096));
  const Sandbox sandbox = confinement.seal();
  const Hello hello{.landlock = sandbox.landlock, .seccomp = sandbox.seccomp};
  if (write_frame(link, encode(Reply(hello))) != FrameStatus::done) return 0;
  while (true) {
    try {
      int object = -1;
      if (read_frame(link, frame, kMaxRequest, &object) != FrameStatus::done ||
          !decode(frame, request))
        return 0;
      frame = {};
      const std::optional<Reply> reply = answer(worker, request, object);
      if (object >= 0) ::close(object);
      if (!reply || write_frame(link, encode(*reply)) != FrameStatus::done) return 0;
    } catch (const std::bad_alloc&) {
      return kWorkerOutOfMemory;
    }
  }
}

}  // namespace warpath::host
