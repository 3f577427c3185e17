#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runners/cuda/compile/compile.h"
#include "runners/cuda/compile/compile_worker.h"

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
/// text. Workers are fed as they finish, two requests each so that none waits for the other side. A
/// request that outlives the time limit has its worker killed and is `timed_out`; one that kills
/// its worker is `crashed` or `limits_exceeded`; neither is tried again. What else was with that
/// worker goes to another. One thread serves all workers; submit, wait and counts may be called
/// from any thread.
///
///   submit -> pending -> [worker 0: compiling, next] -> finished -> wait
///                     -> [worker 1: compiling, next] ->
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
    bool again = false;  ///< a worker was killed over it already
  };
  struct Slot;

  void serve();
  void start(Slot& slot);
  void feed(Slot& slot);
  void read(Slot& slot);
  [[nodiscard]] bool is_overdue(const Slot& slot) const;
  void check_times();
  void bury(Slot& slot, const CompileResult& verdict_of_first, bool killed = false);
  void give_up(const std::string& why);
  void finish(std::uint64_t id, CompileResult result);
  [[nodiscard]] CompileResult cause_of_death(const Slot& slot, bool& killed) const;

  const CompilePoolOptions options_;
  const std::string setup_message_;
  int wake_ = -1;                             // eventfd: something was submitted, or the pool ends
  std::vector<std::unique_ptr<Slot>> slots_;  // the serving thread's alone
  int failed_starts_ = 0;                     // in a row; the serving thread's alone

  mutable std::mutex mutex_;
  std::condition_variable finished_changed_;
  std::deque<Job> pending_;
  std::deque<CompileDone> finished_;
  CompilePoolCounts counts_;
  std::optional<WorkerHello> hello_;
  std::string problem_;
  bool ending_ = false;

  std::jthread thread_;  // last: everything else must exist while it runs
};

}  // namespace warpath::cuda
