#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/statistics.h"
#include "experiments/ship/export_folder.h"
#include "experiments/ship/project_file.h"
#include "experiments/ship/shipment.h"

namespace warpath {

/// How an attempt to deploy ended.
struct Deployment {
  enum class End { deployed, rolled_back, failed };
  End end = End::failed;
  std::string why;  ///< rolled_back, failed: may have several lines
  /// Of the application, in the order taken: seconds, or what it printed.
  std::vector<double> original, best;
  double speedup = 0;  ///< exp of the trimmed mean of ln(original / best) over pairs; 0: not timed
  std::optional<Interval> interval;  ///< 99 %, over the pairs
};

/// Puts the best kernel into the project's tree and keeps it there if the application then builds,
/// passes its test, and is faster in its own timing: taken with and without in turn, the order
/// within pairs alternating, by at least min_gain with the interval above 1. Otherwise, at any
/// exception and at a request of `stop` the tree is as before, byte for byte, and built (not if
/// `abandon` is requested). `exported`: files for the project's export folder. `say` gets a line a
/// step. Throws Error(bad_input) before anything is touched; a failure of the original application
/// or a stop is an End.
[[nodiscard]] Deployment deploy(const Project& project,
                                const Shipment& shipment,
                                FolderFiles exported,
                                void (*say)(const std::string& line),
                                const std::stop_token& stop,
                                const std::stop_token& abandon);

/// Whether such times, pair by pair, are a reason to keep the change; fills speedup and interval.
[[nodiscard]] bool is_faster(Deployment& timed, double min_gain);

}  // namespace warpath
