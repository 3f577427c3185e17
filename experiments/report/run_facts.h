#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/attribution.h"
#include "experiments/setup/recorded_run.h"
#include "experiments/setup/search_graph.h"

namespace warpath {

/// Nodes after so many are given without source, verdict and diagnosis, unless on the path to the
/// best: a page holds no more.
inline constexpr std::size_t kMostDetailed = 20000;

/// A recorded run as the scripts of its page read it (experiments/report/page):
///
///   {"texts": [...], "nodes": [[id, {...}], ...], "links": [[source, target, move], ...],
///    "best": id, "path": [id, ...], "version": line of the log}
///
/// Texts that occur often are numbers, places in `texts`. A node's source is its difference to its
/// parent (`diff`, unified); the baseline has `source` and `terms`.
class RunFacts {
 public:
  /// Only nodes that lines of the log after `after` are about.
  RunFacts(const RecordedRun& run, std::uint64_t after);

  /// The moves between nodes that were known: all edges but those by which nodes were found.
  void add_links(const SearchGraph& graph);
  /// What the code of each move on the path to the best showed.
  void add_attribution(const Attribution& attribution);
  [[nodiscard]] nlohmann::json take() &&;

 private:
  [[nodiscard]] std::size_t text(const std::string& text);
  [[nodiscard]] nlohmann::json node(std::size_t id);
  void add_details(std::size_t id, nlohmann::json& to);

  const RecordedRun& run_;
  const std::size_t best_;
  const std::vector<std::size_t> path_;  // to the best
  nlohmann::json out_;
  nlohmann::json texts_ = nlohmann::json::array();
  std::map<std::string, std::size_t> numbers_;  // of texts
};

}  // namespace warpath
