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
  std::uint64_t budget = 100;  ///< evaluations, the start included
  int devices = 1;             ///< virtual ones, each one evaluation at a time
  Served served = Served::mean;
};

/// A campaign over a recording on virtual devices: the search with its inner tuning, and the
/// finals, as `warpath run` has them.
struct LabRun {
  struct Improvement {
    std::uint64_t evaluation = 0;  ///< counted from 1, in order of completion
    double at_seconds = 0;         ///< on the virtual clock
    double time_ns = 0;            ///< recorded objective of the best as the search saw it
    double low_ns = 0;             ///< time_ns less two standard errors of its repeats
  };
  std::uint64_t evaluations = 0;
  std::uint64_t failed = 0;
  double virtual_seconds = 0;  ///< until the last completion of the search
  /// CPU time of this thread: the search, and microseconds an evaluation of look-ups
  double tuner_seconds = 0;
  std::vector<Improvement> improvements;  ///< the incumbent whenever it changed
  /// recorded objective of what the finals report, of the best of the search without finals; 0:
  /// nothing ran
  double reported_ns = 0;
  double reported_low_ns = 0;  ///< as Improvement::low_ns
  int finalists = 0;           ///< evaluated again; no evaluations in the sense above

  /// Recorded time of the incumbent by evaluation; `worst` until one succeeded.
  [[nodiscard]] std::vector<double> best_by_evaluation(double worst) const;
};

/// Runs the campaign that `options` describe, but for their seed and number of builds; `steps` says
/// how moves are chosen, where the recording has moves. Deterministic but for tuner_seconds. Throws
/// Error(bad_input) naming an option.
[[nodiscard]] LabRun run_lab(const Recording& recording,
                             const Options& options,
                             const LabSettings& settings,
                             const Recording::Steps& steps = {});

/// What an evaluation of `row` returns; the evaluation's own stream draws.
[[nodiscard]] double served_time_ns(const Recording::Row& row, Served served, Rng& rng);

}  // namespace warpath
