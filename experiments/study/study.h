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

/// The contents of STUDY.json for `warpath ablate`. docs/studies.md describes the file.
struct Study {
  std::string name;
  /// others are compared with the first
  std::vector<Setting> settings;
  std::vector<std::string> factors;
  std::vector<std::filesystem::path> spaces;  ///< files named in the study
  std::vector<std::string> synthetic;         ///< presets of landscapes
  /// "family-prior-seed", landscapes of moves
  std::vector<std::string> landscapes;
  std::uint64_t seeds = 30;
  std::uint64_t first_seed = 1;
  /// number of evaluations; 0: determined by the cut-off, or on a graph the default of a run
  std::uint64_t budget = 0;
  double cutoff = 0.95;
  std::uint64_t most = 1300;  ///< limit on the budget by cut-off
  int devices = 1;
  Served served = Served::mean;
  /// canonical JSON, to detect another study in the same folder
  std::string text;
};

/// Reads and checks a study. Throws Error(bad_input) naming file and key.
[[nodiscard]] Study load_study(const std::filesystem::path& file);

}  // namespace warpath
