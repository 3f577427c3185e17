#include "runners/cuda/measure/sampling.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/base/statistics.h"
#include "runners/cuda/measure/cache_plan.h"
#include "runners/cuda/measure/trial.h"
#include "runners/cuda/options.h"

namespace warpath::cuda {
namespace {

/// Shorter launches are timed as one graph of many, so that neither events nor the host show.
constexpr double kGraphBelowNs = 50e3;
constexpr double kBatchNs = 80e3;
constexpr int kMostLaunches = 64;
/// One launch of this length says enough of a candidate that is far behind.
constexpr double kLongNs = 1e6;
/// A launch of this length settles within itself.
constexpr double kOwnBlockNs = 20e6;

int launches_per_sample(double launch_ns) {
  if (launch_ns >= kGraphBelowNs) return 1;
  const double n = std::ceil(kBatchNs / std::max(launch_ns, 1.0));
  return static_cast<int>(std::clamp(n, 2.0, static_cast<double>(kMostLaunches)));
}

/// A fixed number of launches of one candidate on one slot.
class Batch {
 public:
  Batch(Trial& trial, std::size_t w, std::size_t slot, int launches)
      : trial_(trial), w_(w), slot_(slot), launches_(launches) {}

  /// Makes the graph at the first call: not while a clock runs.
  void ready() {
    if (launches_ == 1 || exec_) return;
    const DriverApi& api = trial_.bench().api();
    const CUstream stream = trial_.bench().stream();
    require(api, api.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
            "cannot capture launches");
    CUgraph graph = nullptr;
    try {
      for (int i = 0; i < launches_; ++i) trial_.launch(w_, slot_);
    } catch (...) {
      static_cast<void>(api.cuStreamEndCapture(stream, &graph));
      throw;
    }
    require(api, api.cuStreamEndCapture(stream, &graph), "cannot capture launches");
    graph_ = Graph(api, graph);
    CUgraphExec exec = nullptr;
    require(api, api.cuGraphInstantiate(&exec, graph, 0), "cannot instantiate a graph");
    exec_ = GraphExec(api, exec);
  }

  void enqueue() {
    if (!exec_) return trial_.launch(w_, slot_);
    const DriverApi& api = trial_.bench().api();
    require(api, api.cuGraphLaunch(exec_.get(), trial_.bench().stream()), "cannot launch a graph");
  }

 private:
  Trial& trial_;
  std::size_t w_, slot_;
  int launches_;
  Graph graph_;
  GraphExec exec_;
};

/// One workload's sampling: all timing slots hold declared inputs and poisoned outputs at the
/// start.
class Sampler {
 public:
  Sampler(Trial& trial, std::size_t w)
      : trial_(trial), bench_(trial.bench()), w_(w), slots_(timing_slots(trial, w)) {}

  Sampling run() {
    Sampling out;
    out.timed_slots.assign(slots_, false);
    const double launch_ns = trial_.launch_ns(w_);
    prepare();
    const CachePlan plan =
        cache_plan(trial_.at(w_).workload->l2, bench_.options().l2, trial_.request().stage);
    out.cold_scored = plan.cold_scored;
    if (plan.hot) {
      // What a launch changes must be restored before the next: one launch a sample then.
      out.launches_per_sample = trial_.must_restore(w_) ? 1 : launches_per_sample(launch_ns);
      for (std::size_t s = 0; s < slots_; ++s)
        batches_.emplace_back(trial_, w_, s, out.launches_per_sample);
      sample(out.hot_ns, out, false);
    }
    if (plan.cold && !out.raced_out && (plan.cold_scored || !trial_.is_steady(w_))) {
      batches_.clear();
      for (std::size_t s = 0; s < slots_; ++s) batches_.emplace_back(trial_, w_, s, 1);
      sample(out.cold_ns, out, true);
    }
    return out;
  }

  /// The barely aligned slot would time something else.
  static std::size_t timing_slots(Trial& trial, std::size_t w) {
    return std::max<std::size_t>(1, trial.at(w).slots.size() - 1);
  }

 private:
  void prepare() {
    for (std::size_t s = 0; s < slots_; ++s) {
      trial_.problem().restore(w_, s, trial_.declared_set(w_, s));
      trial_.problem().poison(w_, s, bench_.secret());
    }
  }

  void sample(std::vector<double>& samples, Sampling& out, bool cold) {
    const CudaOptions& options = bench_.options();
    const int launches = cold ? 1 : out.launches_per_sample;
    double spent_ns = 0;
    if (!cold && !samples_needed()) {
      group(samples, out, launches, cold, 1);
      out.raced_out = clearly_slower(samples);
      if (out.raced_out) return;
    }
    // At screening one launch a slot is enough of a kernel that is steady, if they agree. So it is
    // of a very long one at any stage: what is reported is timed in pairs.
    const bool few = trial_.is_steady(w_) || trial_.launch_ns(w_) >= kOwnBlockNs;
    const int least = few ? 2 : options.min_samples;
    const std::size_t size = few ? 1 : group_size(options.min_samples);
    while (static_cast<int>(samples.size()) < options.max_samples) {
      const std::size_t seen = samples.size();
      for (std::size_t s = 0; s < slots_; ++s) group(samples, out, launches, cold, size);
      for (std::size_t i = seen; i < samples.size(); ++i) spent_ns += samples[i] * launches;
      if (static_cast<int>(samples.size()) < least) continue;
      if (spent_ns > options.timing_ms * 1e6 || median_half_width(samples) < options.precision)
        return;
      if (!cold && clearly_slower(samples)) {
        out.raced_out = true;
        return;
      }
    }
  }

  /// Samples enqueued on one slot before the next one's turn, so that one turn of each is enough if
  /// they agree. All slots have equal parts in the samples: contents may decide the time, and the
  /// median must not depend on which slot came first.
  [[nodiscard]] std::size_t group_size(int least) const {
    return (static_cast<std::size_t>(std::max(least, 1)) + slots_ - 1) / slots_;
  }

  /// False if the candidate's first launches were so long that one more may be all that its time is
  /// worth.
  [[nodiscard]] bool samples_needed() const {
    const double launch_ns = trial_.launch_ns(w_);
    return launch_ns < kLongNs || !clearly_slower({launch_ns});
  }

  /// A group stays on one slot, whose data a first launch brings into the cache; groups take turns.
  void group(
      std::vector<double>& samples, Sampling& out, int launches, bool cold, std::size_t size) {
    const DriverApi& api = bench_.api();
    const std::size_t slot = (trial_.request().seed + next_++) % slots_;
    const bool mutates = trial_.must_restore(w_);
    out.timed_slots[slot] = true;
    batches_[slot].ready();
    if (!cold && !mutates && size > 1 && trial_.launch_ns(w_) < Trial::kSteadyNs)
      trial_.launch(w_, slot);
    for (std::size_t i = 0; i < size; ++i) {
      if (mutates) trial_.restore(w_, slot, trial_.declared_set(w_, slot));
      if (cold) bench_.flush_l2();
      require(api, api.cuEventRecord(bench_.event(2 * i), bench_.stream()),
              "cannot record an event");
      batches_[slot].enqueue();
      require(api, api.cuEventRecord(bench_.event(2 * i + 1), bench_.stream()),
              "cannot record an event");
    }
    bench_.synchronize("a timed launch",
                       1e-9 * trial_.launch_ns(w_) * static_cast<double>(size) * (launches + 1));
    for (std::size_t i = 0; i < size; ++i) {
      samples.push_back(bench_.elapsed_ns(2 * i, 2 * i + 1) / launches);
    }
  }

  /// Racing: is the objective far from the incumbent's, this workload's best sample taken for its
  /// time and single launches for those of workloads that have no samples yet?
  [[nodiscard]] bool clearly_slower(const std::vector<double>& samples) const {
    const double incumbent = trial_.request().incumbent_ns;
    const bool scored = trial_.at(w_).workload->role == WorkloadRole::score;
    if (incumbent <= 0 || !scored || trial_.request().stage != Stage::screening) return false;
    const double best = *std::min_element(samples.begin(), samples.end());
    return trial_.objective_if(w_, best) > incumbent * (1 + bench_.options().race_margin);
  }

  Trial& trial_;
  Bench& bench_;
  std::size_t w_;
  std::size_t slots_;
  std::size_t next_ = 0;
  std::vector<Batch> batches_;
};

constexpr double kBlockNs = 10e6;
constexpr double kMostSettleNs = 250e6;
/// relative, between two chunks that show no noise
constexpr double kSettled = 0.005;
/// A device that works without a break may reach its limit of power, which it keeps by clocks that
/// rise and fall for longer than a block lasts. So it rests before each chunk for as long as it has
/// worked since the last rest, and for several times as long where blocks differ all the same.
constexpr double kMostWorkNs = 50e6;  ///< that is rested for at once
/// The same beside launches that are longer than blocks: no rest keeps them from the limit that
/// they reach within themselves.
constexpr double kMostLongWorkNs = 10e6;
constexpr double kUsualRest = 1, kLongRest = 4;
/// Launches of one kernel may come in kinds (other waves of blocks, other places in the cache):
/// some of each slot tell their mean.
constexpr double kKindsNs = 50e6, kLeastSamples = 2, kEnoughSamples = 8, kMostSamples = 64;
constexpr double kStirNs = 2e6;  ///< of launches in a row, which may all be of one kind

/// Blocks of launches of two candidates on one workload.
class Blocks {
 public:
  Blocks(Trial& first, Trial& second, std::size_t w)
      : sides_{&first, &second},
        bench_(first.bench()),
        w_(w),
        slots_(Sampler::timing_slots(first, w)),
        cold_(first.at(w).cold_scored),
        mutates_(first.must_restore(w) || second.must_restore(w)) {
    for (int side = 0; side < 2; ++side) {
      launches_[side] = mutates_ || cold_ ? 1 : launches_per_sample(sides_[side]->launch_ns(w));
      for (std::size_t s = 0; s < slots_; ++s) {
        batches_[side].emplace_back(*sides_[side], w, s, launches_[side]);
        batches_[side].back().ready();
      }
    }
  }

  BlockPairs run() {
    constexpr double kPairConfidence = 0.99, kNarrow = 0.01, kUsualNs = 1.5e9, kMostNs = 5e9,
                     kMostLongNs = 3e9, kLeastPairs = 6, kManyPairs = 16, kManyNs = 1.2e9;
    constexpr int kPairDraws = 500;
    const double pair_ns = launch_ns(0) + launch_ns(1);
    // Few pairs agree by chance where one launch in five is of another kind; takes that differ are
    // pooled (quiet.h).
    const auto long_pairs =
        static_cast<std::size_t>(std::clamp(kManyNs / pair_ns, kLeastPairs, kManyPairs));
    const std::size_t least = has_long() ? (long_pairs + slots_ - 1) / slots_ * slots_ : 5,
                      most = 64;
    const double both_ns = kLeastPairs * pair_ns;
    Rng rng(bench_.secret(), "blocks");
    BlockPairs out;
    std::vector<double> logs;
    for (std::size_t pair = 0; logs.size() < most; ++pair) {
      const int leader = static_cast<int>(rng.below(2));
      double ns[2];
      for (const int side : {leader, 1 - leader}) ns[side] = block(side, pair % slots_, out);
      out.pairs.first_ns.push_back(ns[0]);
      out.pairs.second_ns.push_back(ns[1]);
      logs.push_back(std::log(ns[0] / ns[1]));
      if (logs.size() < least) continue;
      const Interval interval = bootstrap_trimmed_mean(logs, kPairConfidence, kPairDraws, 1);
      const double width = interval.high - interval.low;
      const bool is_wide = width > QuietLimits{}.width;
      const double most_ns = !is_wide ? kUsualNs : has_long() ? kMostLongNs : kMostNs;
      if (width <= kNarrow || spent_ns_ >= std::max(most_ns, both_ns)) break;
      if (is_wide && !has_long() && rest_ < kLongRest && spent_ns_ >= kUsualNs &&
          !are_of_two_kinds(logs)) {
        rest_ = kLongRest;
        out = {};
        logs.clear();
      }
    }
    return out;
  }

  /// The mean launch of the second over all slots after a third of a second without a rest.
  double sustained_ns() {
    constexpr double kSustainedNs = 300e6;
    rest_ = 0;
    double mean = 0;
    while (spent_ns_ < kSustainedNs) {
      mean = 0;
      for (std::size_t slot = 0; slot < slots_; ++slot)
        mean += trimmed_mean(chunk(1, slot)) / static_cast<double>(slots_);
    }
    return mean;
  }

 private:
  [[nodiscard]] double launch_ns(int side) const { return sides_[side]->launch_ns(w_); }
  [[nodiscard]] bool settles(int side) const { return launch_ns(side) < kOwnBlockNs; }
  [[nodiscard]] bool has_long() const { return !settles(0) || !settles(1); }

  /// No rest makes one kind of what the order of blocks makes two.
  static bool are_of_two_kinds(std::span<const double> logs) {
    std::vector<double> ratios;
    for (const double log_ratio : logs) ratios.push_back(std::exp(log_ratio));
    return two_humps(ratios);
  }

  /// The mean launch over all slots, from `first_slot` on, after the candidate has settled on that.
  /// Where launches are long, of that slot alone: others have their turn in other pairs.
  double block(int side, std::size_t first_slot, BlockPairs& out) {
    if (settles(side)) settle(side, first_slot);
    const std::size_t slots = has_long() ? 1 : slots_;
    double sum = 0;
    for (std::size_t i = 0; i < slots; ++i) {
      const std::size_t slot = (first_slot + i) % slots_;
      const std::vector<double> samples = chunk(side, slot);
      const double middle = median(samples);
      for (const double ns : samples) out.residuals.push_back(ns / middle);
      sum += trimmed_mean(samples);
    }
    return sum / static_cast<double>(slots);
  }

  void rest() {
    const double work_ns =
        std::min(spent_ns_ - rested_at_ns_, has_long() ? kMostLongWorkNs : kMostWorkNs);
    std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(rest_ * work_ns));
    rested_at_ns_ = spent_ns_;
  }

  void settle(int side, std::size_t slot) {
    double before = 0;
    for (double done = 0; done < kMostSettleNs;) {
      const double start = spent_ns_;
      const std::vector<double> samples = chunk(side, slot);
      Welford spread;
      for (const double ns : samples) spread.add(ns);
      const double now = trimmed_mean(samples);
      done += spent_ns_ - start;
      const double noise =
          2 * spread.deviation() / (now * std::sqrt(static_cast<double>(samples.size())));
      if (std::abs(now / before - 1) < kSettled + noise) return;
      before = now;
    }
  }

  /// As many samples of a slot as a block holds.
  std::vector<double> chunk(int side, std::size_t slot) {
    const DriverApi& api = bench_.api();
    Trial& trial = *sides_[side];
    const double sample_ns = launch_ns(side) * launches_[side];
    const double least = launch_ns(side) < kOwnBlockNs
                             ? std::clamp(kKindsNs / sample_ns, kLeastSamples, kEnoughSamples)
                             : 1;
    const auto wanted =
        static_cast<std::size_t>(std::clamp(kBlockNs / sample_ns, least, kMostSamples));
    rest();
    bench_.stir();
    double since_stirred_ns = 0;
    if (settles(side) && !mutates_ && !cold_) batches_[side][slot].enqueue();  // fills the cache
    for (std::size_t i = 0; i < wanted; ++i) {
      if (rest_ > 0 && since_stirred_ns >= kStirNs) {
        bench_.stir();
        since_stirred_ns = 0;
      }
      since_stirred_ns += sample_ns;
      if (mutates_) trial.restore(w_, slot, sides_[0]->declared_set(w_, slot));
      if (cold_) bench_.flush_l2();
      require(api, api.cuEventRecord(bench_.event(2 * i), bench_.stream()),
              "cannot record an event");
      batches_[side][slot].enqueue();
      require(api, api.cuEventRecord(bench_.event(2 * i + 1), bench_.stream()),
              "cannot record an event");
    }
    bench_.synchronize("a timed launch", 1e-9 * sample_ns * static_cast<double>(2 * wanted));
    std::vector<double> samples;
    for (std::size_t i = 0; i < wanted; ++i)
      samples.push_back(bench_.elapsed_ns(2 * i, 2 * i + 1) / launches_[side]);
    // Short launches are less than what surrounds them.
    constexpr double kAroundNs = 5e3;
    for (const double ns : samples) spent_ns_ += ns * launches_[side] + kAroundNs;
    if (cold_) spent_ns_ += static_cast<double>(wanted) * kFlushNs;
    return samples;
  }

  static constexpr double kFlushNs = 50e3;  ///< about

  Trial* sides_[2];
  Bench& bench_;
  std::size_t w_;
  std::size_t slots_;
  bool cold_, mutates_;
  int launches_[2] = {1, 1};
  std::vector<Batch> batches_[2];
  double spent_ns_ = 0;  ///< of work on the device
  double rested_at_ns_ = 0;
  double rest_ = kUsualRest;  ///< for each unit of work
};

}  // namespace

BlockPairs sample_blocks(Trial& first, Trial& second, std::size_t w) {
  return Blocks(first, second, w).run();
}

double sustained_ns(Trial& trial, std::size_t w) {
  return Blocks(trial, trial, w).sustained_ns();
}

Sampling sample(Trial& trial, std::size_t w) {
  return Sampler(trial, w).run();
}

Pairs sample_pairs(Trial& first, Trial& second, std::size_t w, int pairs) {
  Pairs out;
  Bench& bench = first.bench();
  const DriverApi& api = bench.api();
  Trial* const sides[2] = {&first, &second};
  const bool mutates = first.must_restore(w) || second.must_restore(w);
  const bool cold = first.at(w).cold_scored;
  const double longest = std::max(first.launch_ns(w), second.launch_ns(w));
  int launches[2];
  std::vector<Batch> batches[2];
  const std::size_t slots = Sampler::timing_slots(first, w);
  for (int side = 0; side < 2; ++side) {
    launches[side] = mutates || cold ? 1 : launches_per_sample(sides[side]->launch_ns(w));
    for (std::size_t s = 0; s < slots; ++s) {
      batches[side].emplace_back(*sides[side], w, s, launches[side]);
      batches[side].back().ready();
    }
  }
  Rng rng(bench.secret(), "pairs");
  // as many of each slot
  pairs = static_cast<int>((static_cast<std::size_t>(pairs) + slots - 1) / slots * slots);
  for (int pair = 0; pair < pairs; ++pair) {
    const std::size_t slot = static_cast<std::size_t>(pair) % slots;
    const int leader = static_cast<int>(rng.below(2));
    for (int turn = 0; turn < 2; ++turn) {
      const int side = turn == 0 ? leader : 1 - leader;
      const auto at = 2 * static_cast<std::size_t>(side);
      if (mutates) {
        sides[side]->restore(w, slot, first.declared_set(w, slot));
      } else if (!cold) {
        sides[side]->launch(w, slot);
      }
      if (cold) bench.flush_l2();
      require(api, api.cuEventRecord(bench.event(at), bench.stream()), "cannot record an event");
      batches[side][slot].enqueue();
      require(api, api.cuEventRecord(bench.event(at + 1), bench.stream()),
              "cannot record an event");
    }
    bench.synchronize("a timed launch", 1e-9 * longest * 2 * kMostLaunches);
    out.first_ns.push_back(bench.elapsed_ns(0, 1) / launches[0]);
    out.second_ns.push_back(bench.elapsed_ns(2, 3) / launches[1]);
  }
  return out;
}

}  // namespace warpath::cuda
