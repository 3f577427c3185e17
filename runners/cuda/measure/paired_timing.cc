#include "runners/cuda/measure/paired_timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <thread>

#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "engine/base/stopwatch.h"

namespace warpath::cuda {
namespace {

/// Between attempts, and doubled after each try on a busy device: what disturbs may be short.
constexpr std::chrono::milliseconds kFirstWait{200};
constexpr int kTries = 6;
/// QuietLimits::width_together once the time is over: no end of it is 1.5 % from the middle.
constexpr double kLateWidth = 0.03;

/// Throws the fault of a device that could not be had quietly.
[[noreturn]] void throw_busy(const std::string& why) {
  throw CandidateFault{Status::not_measured, "the device is busy: " + why, false};
}

/// Waits until the device does nothing else; pairs taken beside other work would only be dropped,
/// and each of their launches may wait for a time slice. Throws if some 6 s do not suffice.
CanaryReading quiet_reading(Bench& bench) {
  auto wait = kFirstWait;
  for (int tries = 1;; ++tries) {
    const CanaryReading reading = bench.watch();
    const std::string why = other_work(reading, bench.canary_rest_ns(), {});
    if (why.empty()) return reading;
    if (tries == kTries) throw_busy(why + ", at " + std::to_string(tries) + " times");
    std::this_thread::sleep_for(wait);
    wait *= 2;
  }
}

Take one_take(Trial& other, Trial& trial, std::vector<BlockPairs>& blocks) {
  Take take;
  blocks.assign(trial.workloads(), {});
  take.before = quiet_reading(trial.bench());
  for (std::size_t w = 0; w < trial.workloads(); ++w) {
    const Workload& workload = *trial.at(w).workload;
    if (workload.role == WorkloadRole::regress) continue;
    blocks[w] = sample_blocks(other, trial, w);
    if (workload.role != WorkloadRole::score) continue;
    const Pairs& pairs = blocks[w].pairs;
    PairedPart part{.weight = workload.weight,
                    .log_ratios = {},
                    .residuals = blocks[w].residuals,
                    .candidate_ns = trimmed_mean(pairs.second_ns)};
    for (std::size_t i = 0; i < pairs.first_ns.size(); ++i)
      part.log_ratios.push_back(std::log(pairs.first_ns[i] / pairs.second_ns[i]));
    take.parts.push_back(std::move(part));
  }
  take.after = trial.bench().watch();
  return take;
}

/// Most that a side's blocks of one workload differ, of their median: which of the two kernels is
/// not to be pinned down.
double most_spread(std::span<const BlockPairs> blocks, std::vector<double> Pairs::* side) {
  double most = 0;
  for (const BlockPairs& of_workload : blocks) {
    const std::vector<double>& ns = of_workload.pairs.*side;
    if (ns.empty()) continue;
    const auto [low, high] = std::ranges::minmax(ns);
    most = std::max(most, (high - low) / median(ns));
  }
  return most;
}

/// The most of a scored workload; launches with a flushed cache rest while it is flushed.
double sustained_over_rested(Trial& trial) {
  double most = 1;
  for (std::size_t w = 0; w < trial.workloads(); ++w) {
    const bool counts = trial.at(w).workload->role == WorkloadRole::score &&
                        !trial.at(w).cold_scored && !trial.paired_ns[w].empty();
    if (counts) most = std::max(most, sustained_ns(trial, w) / median(trial.paired_ns[w]));
  }
  return most;
}

}  // namespace

QuietPairs time_quietly(Trial& other, Trial& trial) {
  std::vector<Take> takes;
  std::vector<std::vector<BlockPairs>> blocks;
  const Stopwatch watch;
  for (;;) {
    takes.push_back(one_take(other, trial, blocks.emplace_back()));
    const double most_seconds = trial.request().pairs_seconds;
    const bool is_late = most_seconds > 0 && watch.seconds() >= most_seconds;
    QuietLimits limits;
    if (is_late) limits.width_together = kLateWidth;
    const QuietJudgement judgement =
        judge_takes(takes, trial.request().searched_ns, trial.bench().canary_rest_ns(), limits);
    if (judgement.next == QuietJudgement::Next::give_up) {
      const std::string spread =
          format("; its own blocks spread by %.1f %%, the other's by %.1f %%",
                 100 * most_spread(blocks.back(), &Pairs::second_ns),
                 100 * most_spread(blocks.back(), &Pairs::first_ns));
      throw_busy(judgement.why + ", in " + std::to_string(takes.size()) + " attempts" + spread);
    }
    if (judgement.next == QuietJudgement::Next::again) {
      std::this_thread::sleep_for(kFirstWait);
      continue;
    }
    QuietPairs out{
        .gain = {}, .pairs = 0, .takes = static_cast<int>(takes.size()), .why = judgement.why};
    std::vector<Take> counted;
    for (const std::size_t i : judgement.counted) {
      counted.push_back(takes[i]);
      for (std::size_t w = 0; w < trial.workloads(); ++w) {
        const Pairs& pairs = blocks[i][w].pairs;
        trial.baseline_ns[w].insert(trial.baseline_ns[w].end(), pairs.first_ns.begin(),
                                    pairs.first_ns.end());
        trial.paired_ns[w].insert(trial.paired_ns[w].end(), pairs.second_ns.begin(),
                                  pairs.second_ns.end());
        out.pairs = std::max(out.pairs, trial.paired_ns[w].size());
      }
    }
    out.gain = gain_of(counted);
    out.sustained_over_rested = sustained_over_rested(trial);
    trial.diagnosis.facts["sustained_over_rested"] = {out.sustained_over_rested,
                                                      FactSource::measured};
    trial.diagnosis.facts["timing_attempts"] = {static_cast<double>(takes.size()),
                                                FactSource::measured};
    trial.diagnosis.facts["canary_stolen"] = {
        std::max(takes.back().before.stolen, takes.back().after.stolen), FactSource::measured};
    return out;
  }
}

}  // namespace warpath::cuda
