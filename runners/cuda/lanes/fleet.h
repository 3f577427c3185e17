#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runners/cuda/lanes/lane.h"
#include "runners/cuda/lanes/lane_pool.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {

/// A spec as all devices know it, and the fastest candidate confirmed on any of them.
struct SharedProblem {
  PrepareProblem problem;
  std::mutex mutex;  ///< of the rest
  std::optional<Candidate> rival;
  std::uint64_t rival_version = 0;
};

/// The devices of a runner: one lane each, assigned to callers that have something to measure.
/// Thread-safe once open.
class Fleet {
 public:
  /// Claims the devices that `--gpus` names; `all_options`: all options as JSON. Throws as
  /// lane_setups() and Lane::claim().
  Fleet(const CudaOptions& options, const std::string& program, const std::string& all_options);

  /// Opens every device and hands it the tools, which `make` compiles once the first has said for
  /// which architecture. Throws Error(bad_input) naming `--gpus` if the devices differ in that.
  void open(const std::function<DeviceTools(const std::string& arch)>& make);

  [[nodiscard]] std::size_t size() const { return lanes_.size(); }
  [[nodiscard]] const DeviceHello& hello() const { return hello_; }  ///< of the first device
  [[nodiscard]] const DeviceTools& tools() const { return tools_; }
  /// Identity and driver of each device.
  [[nodiscard]] const std::vector<std::string>& identities() const { return identities_; }

  /// Measures on the first device to be free, on up to three if they fail. Timings get the
  /// baseline's time on that device, and the diagnosis its restarts. TrialReply::trouble is
  /// "stopped" after `stop`, and after `withdrawn` as long as it waits for a device.
  [[nodiscard]] TrialReply measure(SharedProblem& shared,
                                   const Evaluate& request,
                                   const std::stop_token& stop,
                                   const std::stop_token& withdrawn);
  /// Prepares every idle device at once: while the baseline is asked for, nothing else is under
  /// way.
  void ready_all(SharedProblem& shared, const std::stop_token& stop);
  /// Calls `work` with the index of a GPU of this machine on which nothing else of ours runs
  /// meanwhile. Whatever waits in measure() comes first. No call if there is none.
  void beside(const std::function<void(int gpu)>& work, const std::stop_token& stop);

  /// Adds "lane_busy", "devices" and "worker_restarts".
  void add_figures(std::map<std::string, double>& out) const;

 private:
  [[nodiscard]] TrialReply measure_on(Lane& lane,
                                      SharedProblem& shared,
                                      Evaluate request,
                                      const std::stop_token& stop);

  const bool waits_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  DeviceHello hello_;
  DeviceTools tools_;
  std::vector<std::string> identities_;
  LanePool pool_;
};

}  // namespace warpath::cuda
