#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/base/stopwatch.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

constexpr int kAlone = 24;
/// Launches of which the host takes the time at once: so many that an interrupt is little beside
/// them.
constexpr int kTogether = 128;
constexpr double kTogetherNs = 5e6;
/// A host that has other things to do is asked again, with pauses.
constexpr int kAttempts = 20, kWithoutPause = 3;
constexpr std::chrono::milliseconds kPause{10};
constexpr double kMostRatio = 2;
constexpr double kSlackNs = 15e3;

/// Launches over freshly poisoned outputs, one by one between events, against what was timed in
/// batches; and the host's clock from the first submission to the end. Skipped work, periodic work
/// and work after the end show.
class Clocks final : public DeviceGate {
 public:
  Clocks()
      : DeviceGate({.name = "clocks",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "launches take as long one by one as together, by every clock",
                    .former = "d14_clocks",
                    .by_times = true}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      if (trial.at(w).workload->role == WorkloadRole::regress || trial.at(w).mutates_inputs())
        continue;
      const std::vector<double> single = one_by_one(trial, w);
      const double typical = median(single);
      const Sampling& sampling = trial.timing(w);
      const double claimed = median(sampling.scored_ns());
      const std::string text =
          "workload " + trial.at(w).workload->name + ": " + number_text(typical * 1e-3, 3) +
          " us a launch over poisoned outputs, " + number_text(claimed * 1e-3, 3) + " us as timed";
      if (typical > kMostRatio * claimed + kSlackNs) return fail(text);
      const double most = kMostRatio * typical + kSlackNs;
      const double host = by_host(trial, w, most);
      if (host > most) {
        return fail(text + "; the host's clock says " + number_text(host * 1e-3, 3) + " us");
      }
    }
    return pass();
  }

 private:
  static std::vector<double> one_by_one(Trial& trial, std::size_t w) {
    std::vector<double> out;
    for (int i = 0, n = trial.repeats(w, kAlone, 3); i < n; ++i) {
      trial.problem().poison(w, 0, trial.bench().secret());
      out.push_back(trial.bench().time_enqueued([&] { trial.launch(w, 0); }, "a launch"));
    }
    return out;
  }
  /// The shortest of some attempts, in ns a launch; the first that is at most `enough` ends them.
  /// The host may be interrupted; a device is never early.
  static double by_host(Trial& trial, std::size_t w, double enough) {
    double shortest = std::numeric_limits<double>::infinity();
    const int attempts = trial.repeats(w, kAttempts, 1, 100e6);
    for (int attempt = 0; attempt < attempts && shortest > enough; ++attempt) {
      if (attempt >= kWithoutPause) std::this_thread::sleep_for(kPause);
      const int launches = trial.repeats(w, kTogether, 1, kTogetherNs);
      const Stopwatch watch;
      for (int i = 0; i < launches; ++i) trial.launch(w, 0);
      trial.bench().synchronize("a launch");
      shortest = std::min(shortest, 1e9 * watch.seconds() / launches);
    }
    return shortest;
  }
};

}  // namespace

void register_gate_clocks(GateTable& table) {
  table.add(std::make_unique<Clocks>());
}

}  // namespace warpath::cuda
