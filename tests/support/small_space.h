#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "runners/replay/recorded_space.h"

namespace warpath::test {

/// `axes` axes of `levels` powers of two; every seventh point is missing, every eleventh fails.
inline RecordedSpace small_space(int axes = 3, int levels = 4, const std::string& name = "small") {
  std::vector<RecordedSpace::Axis> all;
  for (int a = 0; a < axes; ++a) {
    RecordedSpace::Axis axis{.name = "p" + std::to_string(a), .texts = {}, .values = {}};
    for (int level = 0; level < levels; ++level) {
      axis.values.push_back(std::int64_t{1} << level);
      axis.texts.push_back(std::to_string(axis.values.back()));
    }
    all.push_back(std::move(axis));
  }
  std::vector<RecordedSpace::Row> rows;
  std::vector<Level> point(static_cast<std::size_t>(axes), 0);
  for (std::size_t n = 1;; ++n) {
    if (n % 7 != 0) {
      double log_time = 0;
      for (std::size_t i = 0; i < point.size(); ++i)
        log_time += 0.3 * std::abs(point[i] - static_cast<double>(i)) + 0.1 * point[i] * point[0];
      RecordedSpace::Row row{
          .point = point, .compile_seconds = 1.0 + static_cast<double>(n % 3), .run_seconds = 0.5};
      if (n % 11 == 0) {
        row.status = Status::launch_error;
      } else {
        row.time_ns = 1e6 * std::exp(log_time + 1e-6 * static_cast<double>(n));
        row.samples_ns = {static_cast<float>(row.time_ns * 0.99),
                          static_cast<float>(row.time_ns * 1.01)};
      }
      rows.push_back(std::move(row));
    }
    std::size_t i = 0;
    while (i < point.size() && ++point[i] == levels) point[i++] = 0;
    if (i == point.size()) break;
  }
  return {name, "a device", std::move(all), std::move(rows), "small_space"};
}

}  // namespace warpath::test
