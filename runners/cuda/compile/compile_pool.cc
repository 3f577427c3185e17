#include "runners/cuda/compile/compile_pool.h"

#include <algorithm>
#include <csignal>

#include "engine/base/error.h"
#include "engine/base/format.h"

namespace warpath::cuda {
namespace {

using Kind = WorkerReply::Kind;

constexpr int kMaxFailedStarts = 3;

/// By a signal that no limit of ours sends; the system may have been short of memory for other
/// reasons.
bool killed_from_outside(const WorkerReply& lost) {
  return lost.kind == Kind::ended && lost.end.signalled && lost.end.code == SIGKILL;
}

}  // namespace

CompilePool::CompilePool(CompilePoolOptions options)
    : options_(std::move(options)), setup_message_(encode(options_.setup)) {
  for (int i = 0; i < std::max(options_.workers, 1); ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { serve(stop); });
}

CompilePool::~CompilePool() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

void CompilePool::submit(std::uint64_t id, CompileRequest request, const OtherCompiler* other) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.submitted;
    pending_.push_back({id, std::move(request), other});
  }
  pending_changed_.notify_one();
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

void CompilePool::serve(const std::stop_token& stop) {
  std::unique_ptr<WorkerProcess> worker = start(stop);
  while (const std::optional<Job> job = next(stop)) {
    CompileResult result = job->other == nullptr
                               ? compile(worker, job->request, stop)
                               : job->other->compile(job->request, options_.setup.limits, stop);
    if (!stop.stop_requested()) finish(job->id, std::move(result));
  }
}

std::optional<CompilePool::Job> CompilePool::next(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!pending_changed_.wait(lock, stop, [this] { return !pending_.empty(); })) return std::nullopt;
  Job job = std::move(pending_.front());
  pending_.pop_front();
  return job;
}

/// Whoever launches on a device is not to wait for a core while others compile.
constexpr int kNiceness = 10;

/// A worker that has sent its hello; null after too many failures in a row, or at the end.
std::unique_ptr<WorkerProcess> CompilePool::start(const std::stop_token& stop) {
  while (!stop.stop_requested() && problem().empty()) {
    std::string why;
    try {
      auto worker = std::make_unique<WorkerProcess>(
          LockedWorker{.argv = options_.worker_argv,
                       .memory_bytes = options_.setup.limits.memory_bytes,
                       .niceness = kNiceness});
      worker->send(setup_message_);
      const WorkerReply reply = worker->wait(options_.start_seconds, stop);
      WorkerHello hello;
      if (reply.kind == Kind::frame && decode(reply.frame, hello) && hello.problem.empty()) {
        const std::lock_guard lock(mutex_);
        failed_starts_ = 0;
        hello_ = std::move(hello);
        return worker;
      }
      why = !hello.problem.empty() ? hello.problem
            : reply.kind == Kind::timed_out
                ? "a compile worker was not ready in time"
                : "a compile worker ended before it was ready: " + options_.worker_argv.front();
    } catch (const Error& error) {
      why = error.what();
    }
    const std::lock_guard lock(mutex_);
    if (++failed_starts_ >= kMaxFailedStarts && !stop.stop_requested()) problem_ = why;
  }
  return nullptr;
}

/// Gives each request a live worker, and a second one if the first was killed from outside.
CompileResult CompilePool::compile(std::unique_ptr<WorkerProcess>& worker,
                                   const CompileRequest& request,
                                   const std::stop_token& stop) {
  for (bool again = false;; again = true) {
    if (worker == nullptr || !worker->idle()) worker = start(stop);
    if (worker == nullptr)
      return failed_compile(Status::crashed,
                            "no compile worker can be started: " + problem() + "\n");
    worker->send(encode(request));
    WorkerReply reply = worker->wait(options_.setup.limits.seconds, stop);
    CompileResult result;
    if (reply.kind == Kind::frame && decode(reply.frame, result)) return result;
    worker.reset();
    {
      const std::lock_guard lock(mutex_);
      ++counts_.restarts;
    }
    if (again || !killed_from_outside(reply)) return judge(reply);
  }
}

CompileResult CompilePool::judge(const WorkerReply& lost) const {
  if (lost.kind == Kind::frame || lost.kind == Kind::damaged)
    return failed_compile(Status::crashed, "the compile worker sent a damaged result\n");
  if (lost.kind == Kind::timed_out)
    return failed_compile(Status::timed_out, "the compiler took longer than " +
                                                 number_text(options_.setup.limits.seconds) +
                                                 " s and was killed\n");
  const std::uint64_t limit = options_.setup.limits.memory_bytes;
  if (killed_from_outside(lost) || (limit > 0 && lost.end.peak_memory_bytes > limit / 2))
    return failed_compile(Status::limits_exceeded, "the compiler used up its memory and died\n");
  return failed_compile(Status::crashed,
                        "the compiler died over this source (" + lost.end.text() + ")\n");
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
