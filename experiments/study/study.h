#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/search/score.h"
#include "runners/replay/recording.h"
#include "runners/replay/virtual_lab.h"

namespace warpath {

/// One combination of factor values.
struct Setting {
  std::string label;                          ///< "strategy=guided", "beta=0.5 rho=1"
  std::map<std::string, std::string> values;  ///< by factor, as text
  Options options;
};

/// What `warpath ablate STUDY.json` is asked for. docs/studies.md describes the file.
struct Study {
  std::string name;
  /// the first is the one that others are compared with
  std::vector<Setting> settings;
  std::vector<std::string> factors;
  std::vector<std::filesystem::path> spaces;  ///< files named in the study
  std::vector<std::string> synthetic;         ///< presets of landscapes
  std::uint64_t seeds = 30;
  std::uint64_t first_seed = 1;
  /// evaluations; 0: by the cut-off, on a graph as many as a run has by default
  std::uint64_t budget = 0;
  double cutoff = 0.95;
  std::uint64_t most = 1300;  ///< limit on the budget by cut-off
  int devices = 1;
  Served served = Served::mean;
  /// canonical JSON, to notice another study in the same folder
  std::string text;
};

/// Reads and checks a study; `presets` are named in it by the factor "preset". Throws
/// Error(bad_input) naming file and key.
[[nodiscard]] Study load_study(const std::filesystem::path& file);

/// A recording with everything that scoring needs of it.
struct StudySpace {
  std::shared_ptr<const Recording> recording;
  ScoreScale scale;
  std::uint64_t budget = 0;
  std::vector<double> baseline;  ///< expected best of uniform search, by evaluations - 1
  double mean_cost_seconds = 0;  ///< of an evaluation
  /// of a graph its first variant's, where every search begins; 0: a space, of which any point may
  /// be drawn
  double start_ns = 0;

  /// How good a best of `reached_ns` is after `evaluations` (1 to budget); 1: the optimum. Of a
  /// space (E(m) - reached) / (E(m) - optimum); of a graph, whose variants cannot be drawn,
  /// ln(start / reached) / ln(start / optimum).
  [[nodiscard]] double score_at(std::uint64_t evaluations, double reached_ns) const;
  /// Mean of score_at over the budget. `best` is indexed by evaluations - 1 and may end early.
  [[nodiscard]] double score(std::span<const double> best) const;
};

/// The scale of a recording and its budget under `study`. Throws Error(bad_input) if nothing in the
/// space runs.
[[nodiscard]] StudySpace scaled(std::shared_ptr<const Recording> recording, const Study& study);
/// The study's own spaces, its landscapes, and every recorded space in `folders` (or files), sorted
/// by name. Files that are no recorded space are left out where a folder was named, with a line for
/// `note`.
[[nodiscard]] std::vector<StudySpace> study_spaces(
    const Study& study,
    const std::vector<std::string>& folders,
    const std::function<void(const std::string&)>& note);

}  // namespace warpath
