#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/plugin/move.h"
#include "engine/plugin/options.h"
#include "experiments/console/command.h"
#include "experiments/propose/move_service.h"

namespace warpath {

struct WorkerReply;

/// A question to a move that got no answer: the move crashed, failed a check, threw, did not
/// terminate or ran out of memory. A line of move_failures.jsonl.
struct MoveFailure {
  Hash128 key;            ///< variant_key of the kernel in question
  MoveInstance instance;  ///< enumerate: the move only; domain: the move and its site
  std::string question;   ///< "enumerate", "apply", "domain" or "inverse"
  std::string reason;     ///< one line
};

struct MoveWorkersSetup {
  /// absolute path of the program and the arguments that make it a worker
  std::vector<std::string> argv;
  /// 0: moves run in this process; an exception is still a single failure
  int workers = 0;
  std::uint64_t memory_bytes = 2ULL << 30U;  ///< address space of a worker
  /// limit on CPU time per instance, enforced by the worker itself
  double seconds = kMoveSeconds;
  /// wall time without a message after which a worker is killed: a backstop
  double silent_seconds = 60;
  /// move_failures.jsonl of a run; empty: not recorded
  std::filesystem::path record = {};
};
/// According to the options: one worker per core, up to 8; none with --isolation none.
[[nodiscard]] MoveWorkersSetup move_workers_setup(const Options& options,
                                                  const Program& program,
                                                  std::filesystem::path record = {});

/// Runs moves in worker processes, so that one which crashes, fails a check, does not terminate or
/// runs out of memory costs one answer instead of the run. `moves()` has the same names as the
/// original registry and gives the same answers, since moves are pure and answers cross the
/// boundary completely. Workers start on demand. One that dies is replaced and the question resumed
/// where it was; if the new one dies there again, that instance (or the whole question) has failed.
/// Exceeded time limits are not retried, kills from outside up to four times.
///
/// Thread-safe: each call borrows a worker and blocks. The specs of contexts must not change during
/// its lifetime. Calls throw Error(environment) if no worker can be started or the record cannot be
/// written.
///
/// A failure is on disk, with the kernel, before anything depends on it: a resumed run knows the
/// failures and does not repeat the questions, so that it continues identically.
class MoveWorkers {
 public:
  /// `moves` must outlive it. Throws Error(bad_input) for a record that is damaged before its last
  /// line.
  MoveWorkers(const MoveRegistry& moves, MoveWorkersSetup setup);
  ~MoveWorkers();
  MoveWorkers(const MoveWorkers&) = delete;
  MoveWorkers& operator=(const MoveWorkers&) = delete;

  /// The moves, valid during this object's lifetime.
  [[nodiscard]] const MoveRegistry& moves() const { return guarded_; }
  /// Failures so far, without those of earlier sessions; one per question and kernel, in
  /// unspecified order.
  [[nodiscard]] std::vector<MoveFailure> failures() const;

  /// Process ids of the live workers.
  [[nodiscard]] std::vector<int> pids() const;
  /// Number of workers that died and were replaced.
  [[nodiscard]] std::uint64_t deaths() const;

 private:
  class Guarded;
  struct Worker;

  [[nodiscard]] MoveAnswer ask(const Move& own, const MoveContext& at, MoveQuestion question);
  [[nodiscard]] MoveAnswer ask_here(const Move& own,
                                    const MoveContext& at,
                                    const MoveQuestion& question) const;
  [[nodiscard]] MoveAnswer ask_worker(const MoveContext& at, MoveQuestion question);
  [[nodiscard]] std::string converse(Worker& worker,
                                     const MoveContext& at,
                                     const MoveQuestion& question,
                                     MoveAnswer& answer);
  void start(Worker& worker);
  void bury(Worker& worker);
  [[nodiscard]] std::string cause_of_death(const WorkerReply& lost) const;
  [[nodiscard]] std::shared_ptr<const std::string> scene(const MoveContext& at);
  void read_record();
  void write_record(const MoveFailure& failure, const Variant& variant) const;
  void fail(const MoveContext& at, MoveInstance instance, std::string question, std::string reason);
  [[nodiscard]] bool has_failed(const Hash128& key,
                                std::string_view question,
                                const MoveInstance& instance) const;

  const MoveWorkersSetup setup_;
  MoveRegistry guarded_{"move"};

  mutable std::mutex mutex_;
  std::condition_variable idle_changed_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> idle_;
  std::uint64_t deaths_ = 0;
  using FailureKey = std::pair<Hash128, std::string>;  // kernel, question and label
  std::set<FailureKey> known_;
  std::vector<MoveFailure> failures_;
  const KernelSpec* scene_spec_ = nullptr;
  DeviceFacts scene_device_;
  std::shared_ptr<const std::string> scene_;  // shared: workers compare it by address
};

}  // namespace warpath
