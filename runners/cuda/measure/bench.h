#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "runners/cuda/counters/counters.h"
#include "runners/cuda/driver/device.h"
#include "runners/cuda/driver/nvml.h"
#include "runners/cuda/measure/harness.h"
#include "runners/cuda/measure/peaks.h"
#include "runners/cuda/measure/quiet.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

/// A candidate's failing that ends its evaluation: thrown while it runs, caught where evaluations
/// are answered. `poisoned`: the process cannot use the device any more.
struct CandidateFault {
  Status status = Status::crashed;
  std::string detail;
  bool poisoned = false;
};

/// Answers of the trusted kernels: places in device memory, read back together. A record that was
/// not written by its own launch fails its reader, so that nothing that a candidate left there
/// counts.
class Answers {
 public:
  explicit Answers(const DriverApi& api);

  /// Where the next record of type T goes, and its number among the answers.
  template <class T>
  [[nodiscard]] std::size_t place() {
    return place(sizeof(T));
  }
  [[nodiscard]] CUdeviceptr address(std::size_t place) const { return memory_.get() + place; }
  /// Forgets all places and gives out nonces anew.
  void clear() { used_ = 0; }
  /// Copies all records here. The stream must have passed them.
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

/// What every evaluation on one device works with: streams, trusted kernels, clocks. One thread.
class Bench {
 public:
  /// `peaks` of this device; may lack everything.
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
  /// Clocks, power and throttling now; empty where they cannot be read.
  [[nodiscard]] DeviceState state() const { return nvml_ ? nvml_->read() : DeviceState{}; }
  /// Opened at the first call; nullptr with one line in `why` where there are none.
  [[nodiscard]] Counters* counters(std::string& why);
  /// A number that no candidate can guess, another one at every call.
  [[nodiscard]] std::uint64_t secret();

  /// Waits for the stream. Throws CandidateFault where it does not end within the launch limit
  /// (plus `expected_seconds`) or the device reports an error; `doing` goes into its text.
  void synchronize(std::string_view doing, double expected_seconds = 0);
  /// synchronize, then answers().fetch().
  void collect(std::string_view doing) {
    synchronize(doing);
    answers_.fetch();
  }

  /// Enqueues one launch. `parameters`: pointers to the kernel's parameters. Throws CandidateFault
  /// where the driver refuses.
  void launch(const KernelFunction& kernel,
              const LaunchNumbers& numbers,
              void** parameters,
              CUstream stream);
  /// Device time between two points of the stream, in ns; `work` enqueues what lies between. Waits.
  [[nodiscard]] double time(const std::function<void()>& work, std::string_view doing);
  [[nodiscard]] CUevent event(std::size_t i);  ///< the i-th of a growing list
  /// From event a to event b, both passed; ns.
  [[nodiscard]] double elapsed_ns(std::size_t a, std::size_t b);

  /// Evicts what is in the level-2 cache.
  void flush_l2();
  /// Enqueues 0.2 ms of random work. Which multiprocessor gets which block of a kernel depends on
  /// the order in which the blocks before it ended, and so does the time of one whose blocks
  /// differ: a naive causal attention takes 72.0 ms, or 67.5 ms, and then stays with either for
  /// tens of launches. After blocks of random lengths every launch is a draw of its own (67.5 ms
  /// in 22 % of them); after blocks of equal lengths it is not.
  void stir();
  /// Keeps half of the device busy from another stream until stop_noise(), a second at most.
  void start_noise();
  void stop_noise();
  /// Time of an empty kernel between two events, ns: what events cannot see below. Measured once.
  [[nodiscard]] double launch_floor_ns();

  /// Launches the canary many times in a row, some 8 ms of them: does the device work for somebody
  /// else?
  [[nodiscard]] CanaryReading watch();
  /// Median launch of the fastest of these rows so far, ns; 0: there was none.
  [[nodiscard]] double canary_rest_ns() const { return canary_rest_ns_; }
  /// Processes with a context on this device that are not of this engine; nullopt where that cannot
  /// be told.
  [[nodiscard]] std::optional<std::vector<long>> foreign_processes() const;
  /// A known kernel gives its known answer. Empty, or what is wrong; `ns` gets its time.
  [[nodiscard]] std::string canary(double& ns);

 private:
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
