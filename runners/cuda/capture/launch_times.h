#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "runners/cuda/capture/driver_symbols.h"

namespace warpath::capture {

/// A stream as a launch names it: the same null handle means another stream to functions whose
/// default stream belongs to a thread.
struct StreamName {
  CUstream handle = nullptr;
  bool of_thread = false;
};

/// True if work submitted to the stream goes to a graph instead of the device.
[[nodiscard]] bool is_capturing(StreamName stream);

/// Lets this thread query events and copy while the application captures a graph on another stream:
/// otherwise the driver would declare that capture invalid.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // to be set next
};

/// Device times of some launches, by a pair of events around each. Nothing waits for them: a time
/// is read once the driver says that its events have passed. Not thread-safe.
class LaunchTimes {
 public:
  /// Whether the `number`-th launch of a shape, counted from 1, is timed: the first ten, then those
  /// at powers of two, and each thousandth.
  [[nodiscard]] static bool is_sample(std::uint64_t number);

  /// An event in front of a launch; null if there can be none.
  [[nodiscard]] CUevent begin(StreamName stream);
  /// The event behind it. `shape` is what its time is reported with.
  void end(CUevent begun, StreamName stream, std::uint32_t shape);
  /// Drops the event of a launch that failed.
  static void drop(CUevent event);
  /// Calls `report(shape, nanoseconds)` for each pair that has passed since, the oldest first, up
  /// to one that has not.
  void collect(const std::function<void(std::uint32_t, double)>& report);
  /// After a fork: the events belong to the parent.
  void forget() { pending_.clear(); }

 private:
  struct Pair {
    CUevent begin, end;
    std::uint32_t shape;
  };
  std::deque<Pair> pending_;
};

}  // namespace warpath::capture
