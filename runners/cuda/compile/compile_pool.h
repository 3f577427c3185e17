#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runners/cuda/compile/compile.h"
#include "runners/cuda/compile/compile_worker.h"
#include "runners/worker/worker_process.h"

namespace warpath::cuda {

struct CompilePoolOptions {
  /// absolute path of the program and what makes it a compile worker
  std::vector<std::string> worker_argv;
  WorkerSetup setup;  ///< its limits hold for every request
  int workers = 1;
  double start_seconds = 60;  ///< until a fresh worker's hello
};

struct CompileDone {
  std::uint64_t id = 0;
  CompileResult result;
};

/// What happened so far, for reports and doctor.
struct CompilePoolCounts {
  std::uint64_t submitted = 0;
  std::uint64_t finished = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t crashed = 0;   ///< requests over which a worker died by itself
  std::uint64_t restarts = 0;  ///< workers started in place of dead ones
};

/// Compiles in worker processes, since neither threads scale nor does a compiler survive every
/// text. A worker gets the next request as soon as it is free. A request that outlives the time
/// limit has its worker killed and is `timed_out`; one that kills its worker is `crashed` or
/// `limits_exceeded`; neither is tried again, unless the worker was killed from outside. A thread
/// serves each worker; submit, wait and counts may be called from any thread.
///
///   submit -> pending -> [thread 0: worker 0] -> finished -> wait
///                     -> [thread 1: worker 1] ->
class CompilePool {
 public:
  explicit CompilePool(CompilePoolOptions options);
  /// Kills what is in flight.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  /// Never blocks. Every id comes back from `wait` exactly once.
  void submit(std::uint64_t id, CompileRequest request);
  /// The next finished request, in any order; nullopt after `timeout`.
  [[nodiscard]] std::optional<CompileDone> wait(std::chrono::milliseconds timeout);
  [[nodiscard]] CompilePoolCounts counts() const;
  /// What the workers said of themselves; nullopt until the first one is up.
  [[nodiscard]] std::optional<WorkerHello> hello() const;
  /// Why no worker can be started (three in a row failed); empty while they can. Requests then come
  /// back as `crashed`.
  [[nodiscard]] std::string problem() const;

 private:
  struct Job {
    std::uint64_t id = 0;
    CompileRequest request;
  };

  void serve(const std::stop_token& stop);
  [[nodiscard]] std::unique_ptr<WorkerProcess> start(const std::stop_token& stop);
  [[nodiscard]] std::optional<Job> next(const std::stop_token& stop);
  [[nodiscard]] CompileResult compile(std::unique_ptr<WorkerProcess>& worker,
                                      const CompileRequest& request,
                                      const std::stop_token& stop);
  [[nodiscard]] CompileResult judge(const WorkerReply& lost) const;
  void finish(std::uint64_t id, CompileResult result);

  const CompilePoolOptions options_;
  const std::string setup_message_;

  mutable std::mutex mutex_;
  std::condition_variable finished_changed_;
  std::condition_variable_any pending_changed_;
  std::deque<Job> pending_;
  std::deque<CompileDone> finished_;
  CompilePoolCounts counts_;
  std::optional<WorkerHello> hello_;
  int failed_starts_ = 0;  // in a row
  std::string problem_;

  std::vector<std::jthread> threads_;  // last: everything else must exist while they run
};

}  // namespace warpath::cuda
