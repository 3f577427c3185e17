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

/// A question to a move that ended without an answer: the move crashed, failed a check, threw, did
/// not end or used up its memory. A line of move_failures.jsonl.
struct MoveFailure {
  Hash128 key;            ///< variant_key of the kernel that it was asked about
  MoveInstance instance;  ///< enumerate: the move alone; domain: the move and its site
  std::string question;   ///< "enumerate", "apply", "domain" or "inverse"
  std::string reason;     ///< one line
};

struct MoveWorkersSetup {
  /// absolute path of the program and what makes it a worker
  std::vector<std::string> argv;
  /// 0: moves run in this process; what they throw is still one failure
  int workers = 0;
  std::uint64_t memory_bytes = 2ULL << 30U;  ///< address space of a worker
  /// processor time for one instance; the worker's own limit
  double seconds = kMoveSeconds;
  /// wall time in which a worker must say something: a backstop, not the limit of a move
  double silent_seconds = 60;
  /// move_failures.jsonl of a run; empty: none is kept
  std::filesystem::path record = {};
};
/// As the options say: a worker a core, up to 8; none with --isolation none.
[[nodiscard]] MoveWorkersSetup move_workers_setup(const Options& options,
                                                  const Program& program,
                                                  std::filesystem::path record = {});

/// Moves that run in worker processes, so that one which crashes, fails a check, does not end or
/// uses up its memory costs one answer and not the run. `moves()` has the same names as the
/// registry that it is made of and answers the same: moves are pure, and all of an answer crosses
/// the boundary. Workers start when they are needed. One that dies is replaced and asked once more
/// from where it was; if it dies there again, that instance (or the whole question) has failed.
/// Time limits are not tried twice, kills from outside up to four times.
///
/// Thread-safe: each call borrows a worker and waits. The specs of contexts must not change while
/// it lives. Calls throw Error(environment) where no worker can be started or the record cannot be
/// written.
///
/// A failure is on the disk, with the kernel, before anything can follow from it: a run that is
/// resumed knows what failed and does not ask again, so that it goes on as it went.
class MoveWorkers {
 public:
  /// `moves` outlives it. Throws Error(bad_input) for a record that is damaged before its last
  /// line.
  MoveWorkers(const MoveRegistry& moves, MoveWorkersSetup setup);
  ~MoveWorkers();
  MoveWorkers(const MoveWorkers&) = delete;
  MoveWorkers& operator=(const MoveWorkers&) = delete;

  /// The moves, which are valid as long as this is.
  [[nodiscard]] const MoveRegistry& moves() const { return guarded_; }
  /// What failed so far, that of earlier sessions left out; each question at each kernel once, in
  /// no particular order.
  [[nodiscard]] std::vector<MoveFailure> failures() const;

  /// Process ids of the workers that are alive.
  [[nodiscard]] std::vector<int> pids() const;
  /// Workers that died and were replaced.
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
