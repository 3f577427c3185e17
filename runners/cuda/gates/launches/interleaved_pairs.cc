#include <algorithm>
#include <cmath>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "runners/cuda/gates/device_gate.h"
#include "runners/cuda/measure/paired_timing.h"

namespace warpath::cuda {
namespace {

constexpr int kPairs = 20;
constexpr double kConfidence = 0.99;

/// Pairs of launches of candidate and incumbent (at first the baseline) in random order within
/// pairs; bootstrap interval of the median log ratio. A gain counts where the interval is above
/// zero and the gain above cuda.min_gain; the detail says so. What is reported is timed in longer
/// blocks, and only while the device is quiet.
class Interleaved final : public DeviceGate {
 public:
  Interleaved()
      : DeviceGate({.name = "interleaved_pairs",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "gains are confirmed by interleaved pairs with the incumbent",
                    .former = "d23_interleaved"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    const Rival& rival = trial.rival();
    const bool is_reported = trial.request().stage == Stage::final || trial.request().versus;
    if (is_reported && rival.is_baseline && rival.candidate.key == trial.candidate().key)
      return not_run("it is the spec's own kernel, timed beside every finalist");
    TrialRequest request{.candidate = rival.candidate, .seed = trial.request().seed};
    Trial other(trial.bench(), trial.problem(), request);
    if (is_reported) {
      const QuietPairs quiet = time_quietly(other, trial);
      std::string text = verdict(trial, rival, quiet.gain.log_ratio, quiet.gain.interval.low,
                                 quiet.gain.interval.high, quiet.pairs);
      if (quiet.takes > 1) text += ", attempt " + std::to_string(quiet.takes);
      constexpr double kWorthSaying = 1.02;
      if (quiet.sustained_over_rested > kWorthSaying)
        text += "; launched without a break it takes " +
                percent_text(quiet.sustained_over_rested - 1) + " longer";
      return pass(quiet.why.empty() ? text : text + "; " + quiet.why);
    }
    WeightedMean log_gain, low, high;
    std::size_t most = 0;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const Workload& workload = *trial.at(w).workload;
      if (workload.role == WorkloadRole::regress) continue;
      const Pairs pairs = sample_pairs(
          other, trial, w, std::min(trial.repeats(w, kPairs, 5), other.repeats(w, kPairs, 5)));
      most = std::max(most, pairs.first_ns.size());
      if (rival.is_reported) trial.baseline_ns[w] = pairs.first_ns;
      trial.paired_ns[w] = pairs.second_ns;
      if (workload.role != WorkloadRole::score) continue;
      std::vector<double> logs;
      for (std::size_t i = 0; i < pairs.first_ns.size(); ++i)
        logs.push_back(std::log(pairs.first_ns[i] / pairs.second_ns[i]));
      const Interval interval = bootstrap_median(logs, kConfidence, 1000, trial.request().seed + w);
      log_gain.add(median(logs), workload.weight);
      low.add(interval.low, workload.weight);
      high.add(interval.high, workload.weight);
    }
    return pass(verdict(trial, rival, log_gain.value(), low.value(), high.value(), most));
  }

 private:
  static std::string verdict(
      Trial& trial, const Rival& rival, double gain, double low, double high, std::size_t pairs) {
    const double least = std::log1p(trial.bench().options().min_gain);
    const char* word = "no difference";
    if (low > 0 && gain >= least) word = "faster";
    if (high < 0 && gain <= -least) word = "slower";
    trial.confirmed_faster = low > 0 && gain >= least;
    return format("%s: %+.2f %% [%+.2f, %+.2f] over the %s, %zu pairs", word,
                  100 * std::expm1(gain), 100 * std::expm1(low), 100 * std::expm1(high),
                  rival.is_baseline   ? "baseline"
                  : rival.is_reported ? "other variant"
                                      : "incumbent",
                  pairs);
  }
};

}  // namespace

void register_gate_interleaved_pairs(GateTable& table) {
  table.add(std::make_unique<Interleaved>());
}

}  // namespace warpath::cuda
