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

/// Hardware counters of single launches, by CUPTI's range profiler in this process. The device's
/// context must be current on the calling thread. Not thread-safe. Profiling is on only inside
/// `collect`, so that timing elsewhere is not touched.
class Counters {
 public:
  /// Opens CUPTI and plans the passes that collect `wanted` on this device. nullopt and one line in
  /// `why` without the library (or this program built without its headers), without permission, or
  /// where the chip offers none of the metrics. `beside`: NVRTC's path, near which CUPTI is looked
  /// for; may be empty. Takes half a second or more: once for a worker.
  [[nodiscard]] static std::optional<Counters> open(const Device& device,
                                                    const std::string& beside,
                                                    std::string& why,
                                                    std::span<const Metric> wanted = metrics());
  ~Counters();
  Counters(Counters&& other) noexcept;
  Counters& operator=(Counters&& other) noexcept;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// Values of one launch, by metric. Each pass calls `restore`, which puts the inputs back and is
  /// not counted, waits for the device, and calls `launch`, which must submit the kernel once and
  /// may leave it running. nullopt and one line in `why` if a call of CUPTI fails or the device
  /// faults. Exceptions of the two functions pass through.
  [[nodiscard]] std::optional<Readings> collect(const std::function<void()>& restore,
                                                const std::function<void()>& launch,
                                                std::string& why);

  [[nodiscard]] const std::vector<ResolvedMetric>& resolved() const;
  /// Launches that one `collect` makes.
  [[nodiscard]] std::size_t passes() const;
  /// The chip as CUPTI names it ("GH100").
  [[nodiscard]] const std::string& chip() const;

  /// Where the time of the last `collect` went, in seconds.
  struct Cost {
    double enable = 0;   ///< switching the profiler on
    double passes = 0;   ///< all launches with what CUPTI does around them
    double restore = 0;  ///< the callback of that name
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
