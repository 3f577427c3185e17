#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/report/run_material.h"

namespace warpath {

/// The result of a run in one look.
struct Headline {
  std::string name;
  std::string verdict;   ///< "1.839x faster", "no gain", "not searched: the baseline is crashed"
  std::string interval;  ///< "[1.678, 1.895], 99 % interval"; empty: there is none
  bool good = false;     ///< a gain that counts
  std::string times;     ///< "0.3614 ms -> 0.1966 ms, ..."; empty: nothing was timed
  std::vector<std::pair<std::string, std::string>> facts;  ///< device, date, budget, ...
  std::string command;                                     ///< that makes the same search
};
[[nodiscard]] Headline run_headline(const RunMaterial& material);
/// As HTML, escaped.
[[nodiscard]] std::string headline_html(const Headline& headline);

/// The options of a run that differ from their defaults as words of a command line.
[[nodiscard]] std::vector<std::string> option_words(const nlohmann::json& options);

}  // namespace warpath
