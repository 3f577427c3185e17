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
#include "runners/cuda/compile/other_compiler.h"
#include "runners/worker/worker_process.h"

namespace warpath::cuda {

struct CompilePoolOptions {
  /// absolute path of the program and the arguments that make it a compile worker
  std::vector<std::string> worker_argv;
  WorkerSetup setup;  ///< its limits apply to every request
  int workers = 1;
  double start_seconds = 60;  ///< limit from a worker's start to its hello
};

struct CompileDone {
  std::uint64_t id = 0;
  CompileResult result;
};

/// Counts so far, for reports and doctor.
struct CompilePoolCounts {
  std::uint64_t submitted = 0;
  std::uint64_t finished = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t crashed = 0;   ///< requests during which a worker died
  std::uint64_t restarts = 0;  ///< workers started to replace dead ones
};

/// Compiles in worker processes, since the compiler neither scales with threads nor survives every
/// input. Each worker is served by a thread and gets the next request as soon as it is free. A
/// request that exceeds the time limit is `timed_out` and its worker killed; one during which its
/// worker dies is `crashed` or `limits_exceeded`. Neither is retried, unless the worker was killed
/// from outside. submit, wait and counts are thread-safe.
///
///   submit -> pending -> [thread 0: worker 0] -> finished -> wait
///                     -> [thread 1: worker 1] ->
class CompilePool {
 public:
  explicit CompilePool(CompilePoolOptions options);
  /// Kills running compilations.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  /// Never blocks. `wait` returns every id exactly once. With `other`, which must outlive the pool,
  /// that compiles it, in a process of its own beside the workers.
  void submit(std::uint64_t id, CompileRequest request, const OtherCompiler* other = nullptr);
  /// The next finished request, in any order; nullopt after `timeout`.
  [[nodiscard]] std::optional<CompileDone> wait(std::chrono::milliseconds timeout);
  [[nodiscard]] CompilePoolCounts counts() const;
  /// The hello of a worker; nullopt until the first one is up.
  [[nodiscard]] std::optional<WorkerHello> hello() const;
  /// Why no worker can be started (after three failures in a row); otherwise empty. While set,
  /// requests finish as `crashed`.
  [[nodiscard]] std::string problem() const;

 private:
  struct Job {
    std::uint64_t id = 0;
    CompileRequest request;
    const OtherCompiler* other = nullptr;
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
  int failed_starts_ = 0;  // consecutive
  std::string problem_;

  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace warpath::cuda
