#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runners/cuda/counters/metrics.h"

namespace warpath::cuda {

class Device;

/// Hardware counters of single launches, collected in this process by CUPTI's range profiler. The
/// device's context must be current. Not thread-safe. Profiling is enabled only inside `collect`,
/// so that it does not disturb timing elsewhere.
class Counters {
 public:
  /// Opens CUPTI and plans the passes that collect `wanted` on this device. nullopt, with one line
  /// in `why`, if the library (or, at build time, its headers) or the permission is missing, or the
  /// chip offers none of the metrics. `beside`: NVRTC's path, near which CUPTI is searched; may be
  /// empty. Takes half a second or more: do it once per worker.
  [[nodiscard]] static std::optional<Counters> open(const Device& device,
                                                    const std::string& beside,
                                                    std::string& why,
                                                    std::span<const Metric> wanted = metrics());
  ~Counters();
  Counters(Counters&& other) noexcept;
  Counters& operator=(Counters&& other) noexcept;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// Values of one launch, by metric. Each pass calls `restore`, which resets the inputs and is not
  /// counted, waits for the device, and calls `launch`, which must submit the kernel exactly once
  /// and may return before it ends. nullopt, with one line in `why`, if CUPTI or the device fails.
  /// Exceptions of the callbacks propagate.
  [[nodiscard]] std::optional<Readings> collect(const std::function<void()>& restore,
                                                const std::function<void()>& launch,
                                                std::string& why);

  [[nodiscard]] const std::vector<ResolvedMetric>& resolved() const;
  /// Number of launches per `collect`.
  [[nodiscard]] std::size_t passes() const;
  /// The chip's name in CUPTI ("GH100").
  [[nodiscard]] const std::string& chip() const;

  /// Breakdown of the last `collect`, in seconds.
  struct Cost {
    double enable = 0;   ///< enabling the profiler
    double passes = 0;   ///< all launches, including CUPTI's work around them
    double restore = 0;  ///< the callback
    double decode = 0;   ///< reading the counters and computing the metrics
    double disable = 0;
  };
  [[nodiscard]] const Cost& last_cost() const;

 private:
  struct State;
  explicit Counters(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace warpath::cuda
