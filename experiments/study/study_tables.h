#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/study/study.h"
#include "experiments/study/study_runs.h"
#include "experiments/study/study_spaces.h"

namespace warpath {

/// Recorded trajectories of another program on one space: best-so-far by evaluation, one per run.
struct Peer {
  std::string name;
  std::string space;
  std::vector<std::vector<double>> best;  ///< ns; constant after the program stopped
  std::vector<double> spent;              ///< number of evaluations of each
};
/// Reads every *.jsonl and *.jsonl.gz below `folders`: lines {space, strategy, nfe, events:
/// [[evaluation, seconds, best ms], ...]}. Returns the strategies and spaces that occur, except
/// spaces not in `spaces`. Throws Error(bad_input) naming file and line.
[[nodiscard]] std::vector<Peer> read_peers(const std::vector<std::string>& folders,
                                           const std::vector<StudySpace>& spaces);

/// One setting, or peer, on one space.
struct StudyCell {
  std::vector<double> scores;  ///< by seed
  double score = 0;
  Interval interval;
  double published = NAN;  ///< of spaces; NaN: of a graph
  double hit5 = 0, hit1 = 0;
  double to5 = 0, to1 = 0;  ///< median evaluations; 0: more than half of the runs never got there
  /// by seed: evaluations until the best reached 95 % of the speed of the space's best; budget + 1
  /// if it never did
  std::vector<double> to95;
  double mean95 = 0;  ///< mean of to95
  Interval interval95;
  double reached95 = 0;  ///< share of runs that got there
  double used = 0;       ///< share of the budget
  double regret = 0, regret_half = 0, regret_clock = 0;
  double tuner_ms = 0;
  std::vector<double> curve;  ///< mean over runs of the score at 1/50, 2/50, ... of the budget
};

/// A setting or peer over all spaces.
struct StudyRow {
  std::string label;
  bool peer = false;
  [[nodiscard]] std::string title() const { return label + (peer ? " (recorded)" : ""); }
  std::vector<StudyCell> cells;  ///< by space; no scores: not there
  bool whole = false;            ///< present on every space
  double score = 0;
  Interval interval;
  double difference = 0;  ///< reference - this, paired over seeds; peers: unpaired
  Interval difference_interval;
  /// evaluations to 95 % over the reference's: geometric mean over spaces and seeds, paired;
  /// settings only
  double ratio95 = 1;
  Interval ratio95_interval{1, 1};
  double p = 1;     ///< of the difference, Holm-adjusted over the settings
  double rank = 0;  ///< mean over spaces and seeds, 1: best; settings only
  double hit5 = 0, hit1 = 0, used = 0, published = NAN, tuner_ms = 0;
};

struct StudyTable {
  std::vector<std::string> spaces;
  std::vector<std::uint64_t> budgets;
  /// number of spaces whose points may be drawn, and of graphs: they are scored differently
  std::size_t points = 0, graphs = 0;
  std::vector<double> ease;    ///< of each space, fitness_flow_ease()
  std::vector<StudyRow> rows;  ///< settings in order, then peers by score
};

/// Share of a random descent's stationary mass on the local optima within 5 % of the best: the
/// proportion of centrality in the fitness flow graph over single changes (Schoonhoven et al.
/// 2022). 1: every descent ends well.
[[nodiscard]] double fitness_flow_ease(const Recording& recording);

[[nodiscard]] StudyTable tabulate(const Study& study,
                                  const std::vector<StudySpace>& spaces,
                                  const std::vector<StudyRun>& runs,
                                  const std::vector<Peer>& peers);

}  // namespace warpath
