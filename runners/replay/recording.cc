#include "runners/replay/recording.h"

#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/statistics.h"

namespace warpath {
namespace {

double relative_deviation(const std::vector<float>& samples) {
  Welford w;
  for (const float s : samples) w.add(static_cast<double>(s));
  return w.mean > 0 ? w.deviation() / w.mean : 0;
}

}  // namespace

Recording::Recording(std::string name,
                     std::string device,
                     std::vector<Row> rows,
                     std::string_view place)
    : name_(std::move(name)), device_(std::move(device)), rows_(std::move(rows)) {
  if (rows_.empty()) throw bad_input(place, "no rows", "at least one");
  std::vector<double> deviations;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.status != Status::ok) continue;
    if (!(row.time_ns > 0) || !std::isfinite(row.time_ns))
      throw bad_input(place, "row " + std::to_string(i), "a time above 0");
    if (best_ns_ == 0 || row.time_ns < best_ns_) best_ns_ = row.time_ns;
    if (row.samples_ns.size() > 1) deviations.push_back(relative_deviation(row.samples_ns));
  }
  if (!deviations.empty()) noise_ = median(deviations);
}

std::vector<std::uint32_t> Recording::reachable() const {
  std::vector<std::uint32_t> out(rows_.size());
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

}  // namespace warpath
