#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/search/score.h"
#include "experiments/study/study.h"
#include "runners/replay/recording.h"

namespace warpath {

/// A recording with the data needed for scoring.
struct StudySpace {
  std::shared_ptr<const Recording> recording;
  ScoreScale scale;
  std::uint64_t budget = 0;
  /// expected best of uniform search, by evaluations - 1; empty unless Recording::drawable
  std::vector<double> baseline;
  double mean_cost_seconds = 0;  ///< of an evaluation
  /// unless Recording::drawable the time of the first variant, where every search begins; 0: a
  /// space, of which any point may be drawn
  double start_ns = 0;

  /// Quality of a best of `reached_ns` after `evaluations` (1 to budget); 1: the optimum. For a
  /// space (E(m) - reached) / (E(m) - optimum); for a graph, whose variants cannot be drawn,
  /// ln(start / reached) / ln(start / optimum).
  [[nodiscard]] double score_at(std::uint64_t evaluations, double reached_ns) const;
  /// Mean of score_at over the budget. `best` is indexed by evaluations - 1 and may be shorter.
  [[nodiscard]] double score(std::span<const double> best) const;
};

/// The scale of a recording and its budget under `study`. Throws Error(bad_input) if no point of
/// the space runs.
[[nodiscard]] StudySpace scaled(std::shared_ptr<const Recording> recording, const Study& study);
/// The study's own spaces, its landscapes, and every recorded space in `folders` (or files), sorted
/// by name. In a folder, files that are not recorded spaces are skipped, with a line to `note`.
[[nodiscard]] std::vector<StudySpace> study_spaces(
    const Study& study,
    const std::vector<std::string>& folders,
    const std::function<void(const std::string&)>& note);

}  // namespace warpath
