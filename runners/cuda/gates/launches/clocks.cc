#include <algorithm>
#include <chrono>
#include <limits>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

constexpr int kAlone = 24;
constexpr int kTogether = 8;
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
      const double host = by_host(trial, w);
      if (host > kMostRatio * typical + kSlackNs) {
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
  /// The shortest of a few, because the host may be interrupted; a device is never early.
  static double by_host(Trial& trial, std::size_t w) {
    double shortest = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < trial.repeats(w, 5, 1, 100e6); ++attempt) {
      const auto begin = std::chrono::steady_clock::now();
      const int launches = trial.repeats(w, kTogether, 1, 100e6);
      for (int i = 0; i < launches; ++i) trial.launch(w, 0);
      trial.bench().synchronize("a launch");
      const std::chrono::duration<double, std::nano> took =
          std::chrono::steady_clock::now() - begin;
      shortest = std::min(shortest, took.count() / launches);
    }
    return shortest;
  }
};

}  // namespace

void register_gate_clocks(GateTable& table) {
  table.add(std::make_unique<Clocks>());
}

}  // namespace warpath::cuda
