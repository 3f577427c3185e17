#include "experiments/evaluate/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/rng.h"
#include "engine/run/evaluation_loop.h"
#include "runners/pool.h"

namespace warpath {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One call of evaluate_candidates. Sequence 0 is the baseline, i + 1 the i-th evaluation.
class CandidateEvaluation final : private EvaluationClient {
 public:
  CandidateEvaluation(const EvaluationPlan& plan,
                      Runner& runner,
                      const std::function<void(const Evaluated&)>& on_result,
                      const std::function<void(const EvaluationFigures&)>& on_tick,
                      const std::stop_token& stop,
                      const std::stop_token& abandon)
      : plan_(plan),
        runner_(runner),
        on_result_(on_result),
        on_tick_(on_tick),
        stop_(stop),
        abandon_(abandon),
        objective_(plan.spec, runner.device(), plan.min_speedup) {}

  EvaluationFigures run() {
    figures_.planned = plan_.candidates.size() * static_cast<std::size_t>(plan_.repeat);
    const auto begin = Clock::now();
    runner_.prepare(plan_.spec);
    figures_.prepare_s = since(begin);
    const auto evaluator = runner_pool(runner_, plan_.spec);
    if (measure_baseline(*evaluator)) {
      begin_ = Clock::now();
      const auto width = static_cast<std::size_t>(evaluator->width());
      room_ = width + std::max<std::size_t>(1, width / 4);
      static_cast<void>(run_evaluations(*evaluator, *this, abandon_));
    }
    figures_.interrupted = figures_.finished < figures_.planned || baseline_.status != Status::ok;
    evaluator->cancel();
    figures_.runner = runner_.figures();
    return figures_;
  }

 private:
  [[nodiscard]] std::uint64_t seed_of(std::size_t sequence) const {
    return Rng(plan_.seed, "inputs", sequence).next();
  }

  [[nodiscard]] Submission submission(std::size_t sequence, const Variant& variant) const {
    return {.sequence = sequence,
            .variant = variant,
            .key = variant_key(variant),
            .seed = seed_of(sequence),
            .incumbent_ns = plan_.race ? best_ns_ : 0,
            .stage = plan_.stage,
            .against = plan_.against != nullptr && sequence > 0 ? std::optional(*plan_.against)
                                                                : std::nullopt};
  }

  /// False if abandoned before it arrived.
  bool measure_baseline(Evaluator& evaluator) {
    const auto begin = Clock::now();
    std::optional<Outcome> outcome = evaluate_alone(
        evaluator,
        submission(0, plan_.against != nullptr ? *plan_.against : baseline_variant(plan_.spec)),
        [this] { tick(); }, abandon_);
    if (!outcome) return false;
    figures_.baseline_s = since(begin);
    baseline_ = std::move(*outcome);
    const std::string problem = objective_.set_baseline(baseline_);
    best_ns_ = objective_.baseline_ns();
    on_result_({.seed = seed_of(0),
                .outcome = baseline_,
                .speedup = problem.empty() ? 1.0 : 0.0,
                .speedup_interval = {1, 1}});
    if (!problem.empty()) {
      throw environment_error(plan_.spec.name +
                              (plan_.against == nullptr
                                   ? ": the baseline is no baseline: "
                                   : ": the kernel to compare with is not ok: ") +
                              problem);
    }
    return true;
  }

  [[nodiscard]] std::optional<Submission> next(std::size_t under_way) override {
    if (stop_.stop_requested() || submitted_ == figures_.planned || under_way >= room_)
      return std::nullopt;
    ++submitted_;
    return submission(submitted_, candidate(submitted_ - 1).variant);
  }
  void tick() override { on_tick_(figures_); }

  /// Whole rounds over the candidates, so that drift of the machine affects all of them.
  [[nodiscard]] const Candidate& candidate(std::size_t i) const {
    return plan_.candidates[i % plan_.candidates.size()];
  }

  void arrive(Completion done) override {
    const std::size_t i = done.sequence - 1;
    Evaluated result{.candidate = &candidate(i),
                     .repetition = static_cast<int>(i / plan_.candidates.size()),
                     .seed = seed_of(done.sequence),
                     .outcome = std::move(done.outcome)};
    figures_.candidates_s = result.finished_s = since(begin_);
    objective_.judge(result.outcome);
    if (result.outcome.status == Status::ok) {
      result.speedup = std::exp(objective_.reward(result.outcome));
      best_ns_ = std::min(best_ns_, objective_.baseline_ns() / result.speedup);
      result.speedup_interval =
          speedup_interval(objective_, baseline_, result.outcome, kConfidence, kDraws, result.seed);
    }
    ++figures_.finished;
    ++figures_.by_status[static_cast<std::size_t>(result.outcome.status)];
    figures_.unexpected += result.expected() ? 0U : 1U;
    on_result_(result);
    tick();
  }

  const EvaluationPlan& plan_;
  Runner& runner_;
  const std::function<void(const Evaluated&)>& on_result_;
  const std::function<void(const EvaluationFigures&)>& on_tick_;
  const std::stop_token& stop_;
  const std::stop_token& abandon_;
  ObjectiveFunction objective_;
  Outcome baseline_;
  double best_ns_ = 0;    // objective of the fastest so far
  std::size_t room_ = 1;  // maximum in flight, such that a lane never waits for this thread
  std::size_t submitted_ = 0;
  EvaluationFigures figures_;
  Clock::time_point begin_;
};

}  // namespace

EvaluationFigures evaluate_candidates(const EvaluationPlan& plan,
                                      Runner& runner,
                                      const std::function<void(const Evaluated&)>& on_result,
                                      const std::function<void(const EvaluationFigures&)>& on_tick,
                                      const std::stop_token& stop,
                                      const std::stop_token& abandon) {
  return CandidateEvaluation(plan, runner, on_result, on_tick, stop, abandon).run();
}

std::string TimeSummary::text() const {
  return ms_text(median_ns * 1e-6, {interval_ns.low * 1e-6, interval_ns.high * 1e-6});
}

TimeSummary time_summary(const KernelSpec& spec,
                         const DeviceFacts& device,
                         const Outcome& outcome) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (outcome.status != Status::ok) return {kNone, {kNone, kNone}};
  WeightedMean middle, low, high;  // of logarithms
  for (const Workload* workload : workloads_for(spec, device)) {
    const auto timing =
        std::ranges::find(outcome.timings, workload->name, &WorkloadTiming::workload);
    if (workload->role != WorkloadRole::score || timing == outcome.timings.end()) continue;
    const Interval interval = bootstrap_median(timing->samples_ns, kConfidence, kDraws, 1);
    middle.add(std::log(median(timing->samples_ns)), workload->weight);
    low.add(std::log(interval.low), workload->weight);
    high.add(std::log(interval.high), workload->weight);
  }
  if (middle.weight <= 0) return {kNone, {kNone, kNone}};
  return {std::exp(middle.value()), exponential({low.value(), high.value()})};
}

}  // namespace warpath
