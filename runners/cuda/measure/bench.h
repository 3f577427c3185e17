#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "engine/spec/parameters.h"
#include "runners/cuda/counters/counters.h"
#include "runners/cuda/driver/device.h"
#include "runners/cuda/driver/nvml.h"
#include "runners/cuda/measure/harness.h"
#include "runners/cuda/measure/peaks.h"
#include "runners/cuda/measure/quiet.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

/// A fault of the candidate that ends its evaluation: thrown while it runs, caught where
/// evaluations are answered. `poisoned`: the process can no longer use the device.
struct CandidateFault {
  Status status = Status::crashed;
  std::string detail;
  bool poisoned = false;
};

/// Results of the trusted kernels: places in device memory, read back together. Reading a record
/// that its own launch did not write fails, so that nothing a candidate left there counts.
class Answers {
 public:
  explicit Answers(const DriverApi& api);

  /// Allocates the place of the next record, of type T; returns it with its number.
  template <class T>
  [[nodiscard]] std::size_t place() {
    return place(sizeof(T));
  }
  [[nodiscard]] CUdeviceptr address(std::size_t place) const { return memory_.get() + place; }
  /// Forgets all records and issues new nonces.
  void clear() { used_ = 0; }
  /// Copies all records to the host. The stream must have passed them.
  void fetch();
  template <class T>
  [[nodiscard]] const T& at(std::size_t place) const {
    return *reinterpret_cast<const T*>(host_ + place);
  }
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

 private:
  [[nodiscard]] std::size_t place(std::size_t bytes);

  const DriverApi& api_;
  DeviceMemory memory_;
  std::byte* host_ = nullptr;  // pinned
  std::size_t used_ = 0;
};

/// What evaluations on one device share: streams, trusted kernels, clocks. Not thread-safe.
class Bench {
 public:
  /// `peaks` of this device; may be empty.
  Bench(const Device& device,
        const std::string& harness_cubin,
        Peaks peaks,
        const CudaOptions& options);

  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] const DriverApi& api() const { return device_.api(); }
  [[nodiscard]] const DeviceLimits& limits() const { return limits_; }
  [[nodiscard]] const CudaOptions& options() const { return options_; }
  [[nodiscard]] const Harness& harness() const { return harness_; }
  [[nodiscard]] CUstream stream() const { return stream_.get(); }
  [[nodiscard]] CUstream side_stream() const { return side_stream_.get(); }
  [[nodiscard]] Answers& answers() { return answers_; }
  [[nodiscard]] const Peaks& peaks() const { return peaks_; }
  /// Current clocks, power and throttling; empty if they cannot be read.
  [[nodiscard]] DeviceState state() const { return nvml_ ? nvml_->read() : DeviceState{}; }
  /// Opened on first use; nullptr, with one line in `why`, if unavailable.
  [[nodiscard]] Counters* counters(std::string& why);
  /// A number that no candidate can guess, different at every call.
  [[nodiscard]] std::uint64_t secret();

  /// Waits for the stream. Throws CandidateFault, with `doing` in its text, if that takes longer
  /// than the launch limit plus `expected_seconds` or the device reports an error.
  void synchronize(std::string_view doing, double expected_seconds = 0);
  /// synchronize, then answers().fetch().
  void collect(std::string_view doing) {
    synchronize(doing);
    answers_.fetch();
  }

  /// Enqueues one launch. `parameters`: pointers to the kernel's parameters. Throws CandidateFault
  /// if the driver refuses.
  void launch(const KernelFunction& kernel,
              const LaunchNumbers& numbers,
              void** parameters,
              CUstream stream);
  /// The same from pointers to the arguments, which the kernel takes as `structs` says; empty: each
  /// is a parameter.
  void launch(const KernelFunction& kernel,
              const LaunchNumbers& numbers,
              const std::vector<ParameterLayout>& structs,
              std::span<void*> arguments,
              CUstream stream);
  /// Device time of what `work` enqueues, in ns. Waits.
  [[nodiscard]] double time(const std::function<void()>& work, std::string_view doing);
  /// The same, but the device begins once all of it is enqueued: a host that is interrupted between
  /// two calls of the driver adds nothing.
  [[nodiscard]] double time_enqueued(const std::function<void()>& work, std::string_view doing);
  [[nodiscard]] CUevent event(std::size_t i);  ///< the i-th of a growing list
  /// Time from event a to event b, both passed, in ns.
  [[nodiscard]] double elapsed_ns(std::size_t a, std::size_t b);

  /// Evicts the level-2 cache.
  void flush_l2();
  /// Enqueues 0.2 ms of random work. The assignment of blocks to multiprocessors depends on the
  /// order in which earlier blocks ended, and with it the time of a kernel whose blocks differ: a
  /// naive causal attention takes 72.0 ms or 67.5 ms, and stays with either for tens of launches.
  /// After blocks of random lengths every launch is an independent draw (67.5 ms in 22 % of them);
  /// after blocks of equal lengths it is not.
  void stir();
  /// Keeps half of the device busy from another stream until stop_noise(), for at most a second.
  void start_noise();
  void stop_noise();
  /// Time of an empty kernel between two events, in ns, the lower limit of what events can measure.
  /// Measured once.
  [[nodiscard]] double launch_floor_ns();

  /// Launches the canary repeatedly for some 8 ms to detect other work on the device.
  [[nodiscard]] CanaryReading watch();
  /// Median launch of the fastest of these series so far, in ns; 0: none yet.
  [[nodiscard]] double canary_rest_ns() const { return canary_rest_ns_; }
  /// Processes of others with a context on this device; nullopt if that cannot be determined.
  [[nodiscard]] std::optional<std::vector<long>> foreign_processes() const;
  /// Runs a kernel with a known result. Returns what is wrong, or empty; sets `ns` to its time.
  [[nodiscard]] std::string canary(double& ns);

 private:
  /// What is enqueued from here to release_stream() waits for it, at most 0.1 s.
  void hold_stream();
  /// Lets the stream go, and waits for its end.
  void release_stream(std::string_view doing);

  const Device& device_;
  const CudaOptions options_;
  const DeviceLimits limits_;
  Harness harness_;
  Stream stream_;
  Stream side_stream_;
  Answers answers_;
  DeviceMemory flush_memory_;
  DeviceMemory canary_memory_;
  DeviceMemory noise_flag_;
  DeviceMemory held_flag_;  ///< what is held goes on once it is `held_`
  std::uint32_t held_ = 0;
  std::vector<Event> events_;
  double launch_floor_ns_ = 0;
  double canary_rest_ns_ = 0;
  const Peaks peaks_;
  std::optional<Nvml> nvml_;
  std::optional<Counters> counters_;
  bool asked_for_counters_ = false;
  std::string no_counters_;
  std::uint64_t secret_state_[2];
  std::uint64_t secrets_ = 0;
};

}  // namespace warpath::cuda
