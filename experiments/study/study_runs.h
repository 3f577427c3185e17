#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/prior.h"
#include "experiments/study/study.h"
#include "experiments/study/study_spaces.h"

namespace warpath {

/// One run of a study: a line of runs.csv.
struct StudyRun {
  std::size_t setting = 0;
  std::string space;
  std::uint64_t seed = 0;
  std::uint64_t budget = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t failed = 0;
  std::uint64_t unchanged = 0;  ///< as LabRun
  double score = 0;             ///< exact, relative to uniform search
  /// the result of its finals is within 5 % and 1 % of the optimum, allowing for the noise of its
  /// repeats
  bool hit5 = false, hit1 = false;
  std::uint64_t to5 = 0, to1 = 0;  ///< number of evaluations; 0: never
  double regret_half = 0;          ///< best / optimum - 1 after half the budget
  double regret = 0;               ///< of the result of its finals
  /// when the virtual clock reaches the cost of budget average evaluations
  double regret_clock = 0;
  double best_ns = 0;
  double virtual_seconds = 0;
  std::vector<LabRun::Improvement> improvements;
  double tuner_ms = 0;  ///< CPU time of the search per evaluation

  /// Recorded time of the incumbent after each evaluation.
  [[nodiscard]] std::vector<double> best_by_evaluation(double worst) const;
};

/// "i/n": this process does every n-th run, starting with the i-th (1-based).
struct Shard {
  std::uint64_t index = 1, count = 1;
};
/// Throws Error(bad_input) unless `text` is I/N, 1 <= I <= N.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// Performs the runs of the study that are missing in `folder`, in parallel, each with its own
/// prior, and appends them in an order that depends only on the study. Throws Error(bad_input) if
/// the folder contains another study. `progress`: runs in the file, runs planned. Returns false if
/// `stop` came first.
[[nodiscard]] bool carry_out(const Study& study,
                             const std::vector<StudySpace>& spaces,
                             const PriorRegistry& priors,
                             const MoveRegistry& moves,
                             const std::filesystem::path& folder,
                             Shard shard,
                             int threads,
                             const std::function<void(std::size_t, std::size_t)>& progress,
                             const std::stop_token& stop);

/// All runs in the folder, of every shard, by setting, space and seed. A torn last line is ignored.
[[nodiscard]] std::vector<StudyRun> read_runs(const std::filesystem::path& folder);

}  // namespace warpath
