#include "runners/cuda/compile/compile_pool.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "engine/base/error.h"
#include "runners/worker/worker_process.h"

namespace warpath::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kInFlightEach = 2;
constexpr int kMaxFailedStarts = 3;

CompileResult verdict(Status status, std::string log) {
  CompileResult result;
  result.status = status;
  result.log = std::move(log);
  return result;
}

}  // namespace

struct CompilePool::Slot {
  std::unique_ptr<WorkerProcess> process;
  bool ready = false;         // its hello has come
  std::deque<Job> in_flight;  // the first one is being compiled
  Clock::time_point since{};  // of the start, or of the first job's start
};

CompilePool::CompilePool(CompilePoolOptions options)
    : options_(std::move(options)),
      setup_message_(encode(options_.setup)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0)
    throw environment_error(std::string("cannot make an event descriptor: ") +
                            std::strerror(errno));
  for (int i = 0; i < std::max(options_.workers, 1); ++i)
    slots_.push_back(std::make_unique<Slot>());
  thread_ = std::jthread([this] { serve(); });
}

CompilePool::~CompilePool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
}

void CompilePool::submit(std::uint64_t id, CompileRequest request) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.submitted;
    pending_.push_back({id, std::move(request)});
  }
  ::eventfd_write(wake_, 1);
}

std::optional<CompileDone> CompilePool::wait(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  if (!finished_changed_.wait_for(lock, timeout, [this] { return !finished_.empty(); }))
    return std::nullopt;
  CompileDone done = std::move(finished_.front());
  finished_.pop_front();
  return done;
}

CompilePoolCounts CompilePool::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::optional<WorkerHello> CompilePool::hello() const {
  const std::lock_guard lock(mutex_);
  return hello_;
}

std::string CompilePool::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

void CompilePool::serve() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (ending_) break;
    }
    if (failed_starts_ < kMaxFailedStarts) {
      for (const auto& slot : slots_) {
        if (slot->process == nullptr) start(*slot);
        if (slot->process != nullptr) feed(*slot);
      }
    } else {
      give_up("");
    }
    std::vector<pollfd> polled{{.fd = wake_, .events = POLLIN, .revents = 0}};
    for (const auto& slot : slots_) {
      const int fd = slot->process != nullptr ? slot->process->fd() : -1;
      const bool writing = slot->process != nullptr && slot->process->wants_to_write();
      polled.push_back({.fd = fd,
                        .events = static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN),
                        .revents = 0});
    }
    static_cast<void>(::poll(polled.data(), polled.size(), 50));
    if (eventfd_t ignored = 0; polled[0].revents != 0)
      static_cast<void>(::eventfd_read(wake_, &ignored));
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i]->process != nullptr && polled[i + 1].revents != 0) read(*slots_[i]);
    }
    check_times();
  }
  slots_.clear();  // kills the workers in the thread that started them
}

void CompilePool::start(Slot& slot) {
  try {
    slot.process = std::make_unique<WorkerProcess>(WorkerCommand{
        .argv = options_.worker_argv, .memory_bytes = options_.setup.limits.memory_bytes});
    slot.ready = false;
    slot.since = Clock::now();
    slot.process->send(setup_message_);
  } catch (const Error& error) {
    ++failed_starts_;
    give_up(error.what());
  }
}

void CompilePool::feed(Slot& slot) {
  while (slot.ready && slot.in_flight.size() < kInFlightEach) {
    Job job;
    {
      const std::lock_guard lock(mutex_);
      if (pending_.empty()) return;
      job = std::move(pending_.front());
      pending_.pop_front();
    }
    if (slot.in_flight.empty()) slot.since = Clock::now();
    slot.process->send(encode(job.request));
    slot.in_flight.push_back(std::move(job));
  }
}

void CompilePool::read(Slot& slot) {
  const bool alive = slot.process->pump();
  while (const auto message = slot.process->receive()) {
    if (!slot.ready) {
      WorkerHello hello;
      if (!decode(*message, hello))
        return bury(slot, verdict(Status::crashed, "a compile worker sent a damaged hello"));
      if (!hello.problem.empty()) {
        slot.process.reset();
        ++failed_starts_;
        return give_up(hello.problem);
      }
      slot.ready = true;
      failed_starts_ = 0;
      const std::lock_guard lock(mutex_);
      hello_ = std::move(hello);
      continue;
    }
    CompileResult result;
    if (slot.in_flight.empty() || !decode(*message, result)) {
      return bury(slot, verdict(Status::crashed, "the compile worker sent a damaged result"));
    }
    const std::uint64_t id = slot.in_flight.front().id;
    slot.in_flight.pop_front();
    slot.since = Clock::now();
    finish(id, std::move(result));
  }
  if (alive) return;
  if (!slot.ready) {
    slot.process.reset();
    ++failed_starts_;
    return give_up("a compile worker ended before it was ready: " + options_.worker_argv.front());
  }
  bool killed = false;
  const CompileResult cause = cause_of_death(slot, killed);
  bury(slot, cause, killed);
}

/// `killed`: by a signal that no limit of ours sends; the system may have been short of memory for
/// other reasons.
CompileResult CompilePool::cause_of_death(const Slot& slot, bool& killed) const {
  const int status = slot.process->kill();
  const std::uint64_t limit = options_.setup.limits.memory_bytes;
  const bool signalled = WIFSIGNALED(status);
  killed = signalled && WTERMSIG(status) == SIGKILL;
  const bool out_of_memory = (signalled && WTERMSIG(status) == SIGKILL) ||
                             (limit > 0 && slot.process->peak_memory_bytes() > limit / 2);
  if (out_of_memory)
    return verdict(Status::limits_exceeded, "the compiler used up its memory and died\n");
  const std::string how = signalled ? std::string("signal ") + std::to_string(WTERMSIG(status))
                                    : "exit status " + std::to_string(WEXITSTATUS(status));
  return verdict(Status::crashed, "the compiler died over this source (" + how + ")\n");
}

/// Whether the worker has had its first request, or its start, for longer than it may.
bool CompilePool::is_overdue(const Slot& slot) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - slot.since).count();
  if (slot.process == nullptr) return false;
  if (!slot.ready) return seconds >= options_.start_seconds;
  return !slot.in_flight.empty() && seconds > options_.setup.limits.seconds;
}

/// A process that held gigabytes takes seconds to end, and this thread waits for it. So all that
/// are overdue are killed before the first is waited for, and none is judged before what it sent
/// meanwhile was read.
void CompilePool::check_times() {
  std::vector<Slot*> overdue;
  for (const auto& slot : slots_) {
    if (is_overdue(*slot)) read(*slot);
    if (is_overdue(*slot)) overdue.push_back(slot.get());
  }
  for (const Slot* const slot : overdue) ::kill(slot->process->pid(), SIGKILL);
  for (Slot* const slot : overdue) {
    if (slot->ready) {
      bury(*slot, verdict(Status::timed_out, "the compiler took longer than " +
                                                 std::to_string(options_.setup.limits.seconds) +
                                                 " s and was killed\n"));
    } else {
      slot->process.reset();
      ++failed_starts_;
      give_up("a compile worker was not ready in time");
    }
  }
}

void CompilePool::bury(Slot& slot, const CompileResult& verdict_of_first, bool killed) {
  slot.process.reset();
  slot.ready = false;
  std::deque<Job> jobs = std::move(slot.in_flight);
  slot.in_flight.clear();
  if (!jobs.empty() && killed && !jobs.front().again) {
    jobs.front().again = true;
  } else if (!jobs.empty()) {
    const std::uint64_t id = jobs.front().id;
    jobs.pop_front();
    finish(id, verdict_of_first);
  }
  const std::lock_guard lock(mutex_);
  ++counts_.restarts;
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) pending_.push_front(std::move(*job));
}

void CompilePool::give_up(const std::string& why) {
  if (failed_starts_ < kMaxFailedStarts) return;
  std::deque<Job> lost;
  {
    const std::lock_guard lock(mutex_);
    if (!why.empty()) problem_ = why;
    lost.swap(pending_);
  }
  for (const auto& slot : slots_) {
    for (Job& job : slot->in_flight) lost.push_back(std::move(job));
    slot->in_flight.clear();
    slot->process.reset();
  }
  for (const Job& job : lost)
    finish(job.id,
           verdict(Status::crashed, "no compile worker can be started: " + problem() + "\n"));
}

void CompilePool::finish(std::uint64_t id, CompileResult result) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.finished;
    if (result.status == Status::timed_out) ++counts_.timed_out;
    if (result.status == Status::crashed) ++counts_.crashed;
    finished_.push_back({id, std::move(result)});
  }
  finished_changed_.notify_all();
}

}  // namespace warpath::cuda
