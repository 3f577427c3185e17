#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "engine/base/statistics.h"
#include "runners/host/execute/worker_client.h"
#include "runners/host/options.h"

/// Baseline and candidate are timed in turn, so that other work on the machine affects both.
namespace warpath::host {

/// How many rounds. Each costs a warm-up, so long launches get fewer, at most as many launches as
/// fit in a second; there are always at least host.min_samples samples.
[[nodiscard]] inline std::size_t timing_rounds(double launch_seconds) {
  constexpr double kRoundSeconds = 1, kMostRounds = 9;
  return static_cast<std::size_t>(
      std::clamp(kRoundSeconds / std::max(launch_seconds, 1e-9), 1.0, kMostRounds));
}

/// One of so many rounds' share of the samples.
[[nodiscard]] inline TimeCommand timing_round(const LaunchCommand& launch,
                                              std::size_t rounds,
                                              const HostOptions& options) {
  const int count = static_cast<int>(rounds);
  const auto share = [count](int samples) { return (samples + count - 1) / count; };
  return {.launch = launch,
          .seconds = options.timing_seconds / count,
          .min_samples = share(options.min_samples),
          .max_samples = share(std::max(options.max_samples, options.min_samples))};
}

[[nodiscard]] inline WorkerClient::Limit timing_limit(const TimeCommand& timing,
                                                      double launch_seconds,
                                                      const HostOptions& options) {
  const double each = std::min(options.launch_seconds, 1 + 20 * launch_seconds);
  return WorkerClient::Limit(timing.seconds + (timing.min_samples + 2) * each + 2);
}

/// Samples of the quiet rounds, in order. Other work on the machine lasts longer than a round: one
/// whose median exceeds the quietest round's by a quarter was disturbed and is left out, for
/// baseline and candidate alike.
[[nodiscard]] inline std::vector<double> quiet(const std::vector<std::vector<double>>& rounds) {
  constexpr double kDisturbed = 1.25;
  double quietest = std::numeric_limits<double>::infinity();
  for (const auto& round : rounds) {
    if (!round.empty()) quietest = std::min(quietest, median(round));
  }
  std::vector<double> out;
  for (const auto& round : rounds) {
    if (!round.empty() && median(round) <= kDisturbed * quietest)
      out.insert(out.end(), round.begin(), round.end());
  }
  return out;
}

}  // namespace warpath::host
