#pragma once

#include <cstdint>
#include <vector>

#include "engine/plugin/options.h"
#include "runners/replay/recording.h"

namespace warpath {

/// What an evaluation returns.
enum class Served : std::uint8_t {
  mean,  ///< the recorded objective
  draw,  ///< one of the recorded repeats, by the seed
};

struct LabSettings {
  std::uint64_t seed = 1;
  std::uint64_t budget = 100;  ///< evaluations, including the start
  int devices = 1;             ///< virtual devices, one evaluation each at a time
  Served served = Served::mean;
};

/// A campaign over a recording on virtual devices: search, inner tuning and finals, as in `warpath
/// run`.
struct LabRun {
  struct Improvement {
    std::uint64_t evaluation = 0;  ///< counted from 1, in order of completion
    double at_seconds = 0;         ///< on the virtual clock
    double time_ns = 0;            ///< recorded objective of the search's best
    double low_ns = 0;             ///< time_ns less two standard errors of its repeats
  };
  std::uint64_t evaluations = 0;
  std::uint64_t failed = 0;
  std::uint64_t unchanged = 0;  ///< that ran the machine code of the node they were made from
  double virtual_seconds = 0;   ///< until the last completion of the search
  /// CPU time of this thread: the search, and a few microseconds of look-up per evaluation
  double tuner_seconds = 0;
  std::vector<Improvement> improvements;  ///< each change of the incumbent
  /// recorded objective of the variant that the finals report, or of the search's best if there are
  /// no finals; 0: nothing ran
  double reported_ns = 0;
  double reported_low_ns = 0;  ///< as Improvement::low_ns
  int finalists = 0;           ///< evaluated again; not counted in `evaluations`

  /// Recorded time of the incumbent after each evaluation; `worst` before the first success.
  [[nodiscard]] std::vector<double> best_by_evaluation(double worst) const;
};

/// Runs the campaign that `options` describe, except for their seed and number of builds; `steps`
/// says how moves are chosen if the recording has moves. Deterministic except for tuner_seconds.
/// Throws Error(bad_input) naming an option.
[[nodiscard]] LabRun run_lab(const Recording& recording,
                             const Options& options,
                             const LabSettings& settings,
                             const Recording::Steps& steps = {});

/// The time an evaluation of `row` returns; `rng` is the evaluation's own stream.
[[nodiscard]] double served_time_ns(const Recording::Row& row, Served served, Rng& rng);

}  // namespace warpath
