#include "engine/plugin/objective.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/base/rng.h"
#include "engine/plugin/runner.h"

namespace warpath {
namespace {

/// Standard error of the median over that of the mean, of normal samples: sqrt(pi / 2).
constexpr double kMedianError = 1.2533;

bool is_in_pairs(const WorkloadTiming& timing) {
  return timing.samples_ns.size() > 1 &&
         timing.samples_ns.size() == timing.baseline_samples_ns.size();
}

double typical(const WorkloadTiming& timing, const std::vector<double>& samples) {
  const bool sound =
      std::ranges::all_of(samples, [](double x) { return std::isfinite(x) && x > 0; });
  if (!sound) return std::numeric_limits<double>::quiet_NaN();
  return is_in_pairs(timing) ? trimmed_mean(samples) : median(samples);
}

}  // namespace

double typical_ns(const Outcome& outcome, std::string_view workload) {
  const auto timing = std::ranges::find(outcome.timings, workload, &WorkloadTiming::workload);
  return timing == outcome.timings.end() ? std::numeric_limits<double>::quiet_NaN()
                                         : typical(*timing, timing->samples_ns);
}

double paired_baseline_ns(const Outcome& outcome, std::string_view workload, double otherwise) {
  const auto timing = std::ranges::find(outcome.timings, workload, &WorkloadTiming::workload);
  if (timing == outcome.timings.end() || timing->baseline_samples_ns.empty()) return otherwise;
  return typical(*timing, timing->baseline_samples_ns);
}

ObjectiveFunction::ObjectiveFunction(const KernelSpec& spec,
                                     const DeviceFacts& device,
                                     double min_speedup)
    : objective_(spec.objective) {
  for (const Workload* w : workloads_for(spec, device)) {
    if (w->role == WorkloadRole::regress) continue;
    terms_.push_back({.workload = w->name,
                      .role = w->role,
                      .weight = w->weight,
                      .min_speedup = w->min_speedup > 0 ? w->min_speedup : min_speedup,
                      .baseline_ns = 0});
  }
}

std::string ObjectiveFunction::set_baseline(const Outcome& outcome) {
  if (outcome.status != Status::ok) {
    const std::string why = outcome.log.empty() ? outcome.verdict.summary()
                                                : outcome.log.substr(0, outcome.log.find('\n'));
    return std::string(name(outcome.status)) + (why.empty() ? "" : ": " + why);
  }
  const auto failed =
      std::ranges::find(outcome.verdict.gates, GateResult::Answer::fail, &GateResult::answer);
  if (failed != outcome.verdict.gates.end()) return outcome.verdict.summary();
  for (Term& term : terms_) {
    term.baseline_ns = typical_ns(outcome, term.workload);
    if (!std::isfinite(term.baseline_ns)) return "workload " + term.workload + " has no time";
  }
  baseline_ns_ = combined([](const Term& term) { return term.baseline_ns; });
  return std::isfinite(baseline_ns_) ? "" : "no workload of role score runs here";
}

double ObjectiveFunction::combined(const std::function<double(const Term&)>& ns) const {
  WeightedMean logs, times;
  for (const Term& term : terms_) {
    if (term.role != WorkloadRole::score) continue;
    logs.add(std::log(ns(term)), term.weight);
    times.add(ns(term), term.weight);
  }
  return objective_ == Objective::weighted ? times.value() : std::exp(logs.value());
}

double ObjectiveFunction::baseline_ns(const Outcome& outcome) const {
  return combined([&](const Term& term) {
    return paired_baseline_ns(outcome, term.workload, term.baseline_ns);
  });
}

void ObjectiveFunction::judge(Outcome& outcome) const {
  using enum GateResult::Answer;
  if (outcome.status != Status::ok) return;
  const bool earlier_failure = std::ranges::any_of(
      outcome.verdict.gates, [](const GateResult& g) { return g.answer == fail; });
  GateResult timed{.gate = "workloads_timed", .answer = pass, .detail = ""};
  GateResult floor{.gate = "guard_floor", .answer = not_run, .detail = "no workload of role guard"};
  for (const Term& term : terms_) {
    const double candidate_ns = typical_ns(outcome, term.workload);
    const double baseline_ns = paired_baseline_ns(outcome, term.workload, term.baseline_ns);
    if (!std::isfinite(candidate_ns) || !std::isfinite(baseline_ns)) {
      timed = {.gate = "workloads_timed", .answer = fail, .detail = term.workload + " has no time"};
      break;
    }
    if (term.role != WorkloadRole::guard || floor.answer == fail) continue;
    const double speedup = baseline_ns / candidate_ns;
    floor = {.gate = "guard_floor",
             .answer = speedup < term.min_speedup ? fail : pass,
             .detail = term.workload + " " + ratio_text(speedup) + ", floor " +
                       ratio_text(term.min_speedup)};
  }
  if (timed.answer == fail)
    floor = {.gate = "guard_floor", .answer = not_run, .detail = "no times"};
  if (earlier_failure || timed.answer == fail || floor.answer == fail)
    outcome.status = Status::rejected;
  outcome.verdict.gates.push_back(std::move(timed));
  outcome.verdict.gates.push_back(std::move(floor));
}

double ObjectiveFunction::reward(const Outcome& outcome) const {
  WeightedMean logs;
  double baseline = 0;
  double candidate = 0;
  double worst = std::numeric_limits<double>::infinity();
  for (const Term& term : terms_) {
    if (term.role != WorkloadRole::score) continue;
    const double ns = typical_ns(outcome, term.workload);
    const double baseline_ns = paired_baseline_ns(outcome, term.workload, term.baseline_ns);
    const double log_speedup = std::log(baseline_ns / ns);
    logs.add(log_speedup, term.weight);
    baseline += term.weight * baseline_ns;
    candidate += term.weight * ns;
    worst = std::min(worst, log_speedup);
  }
  switch (objective_) {
    case Objective::geomean:
      return logs.value();
    case Objective::weighted:
      return std::log(baseline / candidate);
    case Objective::worst:
      return worst;
  }
  WARPATH_CHECK(false);
}

bool ObjectiveFunction::is_paired(const Outcome& outcome) const {
  return std::ranges::all_of(terms_, [&](const Term& term) {
    const auto timing =
        std::ranges::find(outcome.timings, term.workload, &WorkloadTiming::workload);
    return term.role != WorkloadRole::score ||
           (timing != outcome.timings.end() && timing->samples_ns.size() >= 2 &&
            timing->baseline_samples_ns.size() >= 2);
  });
}

double ObjectiveFunction::standard_error(const Outcome& outcome) const {
  const auto relative_variance = [](const std::vector<double>& samples) {
    Welford spread;
    for (const double x : samples) spread.add(x);
    const double error = kMedianError * spread.deviation() / median(samples);
    return samples.size() < 2 ? 0.0 : error * error / static_cast<double>(samples.size());
  };
  double shares = 0;
  double sum = 0;
  double worst = std::numeric_limits<double>::infinity();
  double worst_variance = 0;
  for (const Term& term : terms_) {
    const auto timing =
        std::ranges::find(outcome.timings, term.workload, &WorkloadTiming::workload);
    if (term.role != WorkloadRole::score || timing == outcome.timings.end() ||
        timing->samples_ns.empty())
      continue;
    const double ns = median(timing->samples_ns);
    const double variance =
        relative_variance(timing->samples_ns) + relative_variance(timing->baseline_samples_ns);
    const double share = objective_ == Objective::weighted ? term.weight * ns : term.weight;
    shares += share;
    sum += share * share * variance;
    const double log_speedup =
        std::log(paired_baseline_ns(outcome, term.workload, term.baseline_ns) / ns);
    if (log_speedup < worst) worst = log_speedup, worst_variance = variance;
  }
  if (objective_ == Objective::worst) return std::sqrt(worst_variance);
  return shares > 0 ? std::sqrt(sum) / shares : 0;
}

namespace {

/// Which of `count` samples to take, as many as there are.
std::vector<std::size_t> draw(std::size_t count, Rng& rng) {
  std::vector<std::size_t> out(count);
  for (std::size_t& i : out) i = rng.below(count);
  return out;
}

std::vector<double> picked(const std::vector<double>& samples,
                           const std::vector<std::size_t>& which) {
  std::vector<double> out;
  for (const std::size_t i : which) out.push_back(samples[i]);
  return out;
}

/// The timings alone, each list of samples drawn anew.
Outcome resampled(const Outcome& outcome, Rng& rng) {
  Outcome out;
  out.status = outcome.status;
  out.timings = outcome.timings;
  for (WorkloadTiming& timing : out.timings) {
    const std::vector<std::size_t> own = draw(timing.samples_ns.size(), rng);
    const bool pairs = is_in_pairs(timing);
    timing.samples_ns = picked(timing.samples_ns, own);
    timing.baseline_samples_ns = picked(timing.baseline_samples_ns,
                                        pairs ? own : draw(timing.baseline_samples_ns.size(), rng));
  }
  return out;
}

}  // namespace

Interval speedup_interval(ObjectiveFunction objective,
                          const Outcome& baseline,
                          const Outcome& candidate,
                          double confidence,
                          int draws,
                          std::uint64_t seed) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (draws < 1 || candidate.status != Status::ok || !objective.set_baseline(baseline).empty())
    return {kNone, kNone};
  Rng rng(seed, "speedup");
  std::vector<double> rewards;
  for (int i = 0; i < draws; ++i) {
    static_cast<void>(objective.set_baseline(resampled(baseline, rng)));
    rewards.push_back(objective.reward(resampled(candidate, rng)));
  }
  return exponential(percentile_interval(rewards, confidence));
}

SpeedupEstimate speedup_estimate(ObjectiveFunction objective,
                                 const Outcome& baseline,
                                 std::span<const Outcome> candidates,
                                 double confidence,
                                 int draws,
                                 std::uint64_t seed) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const SpeedupEstimate none{kNone, {kNone, kNone}};
  const bool all_ok =
      std::ranges::all_of(candidates, [](const Outcome& one) { return one.status == Status::ok; });
  if (candidates.empty() || !all_ok || draws < 1 || !objective.set_baseline(baseline).empty())
    return none;
  const auto count = static_cast<double>(candidates.size());
  double sum = 0;
  for (const Outcome& candidate : candidates) sum += objective.reward(candidate);
  Rng rng(seed, "speedup");
  std::vector<double> rewards;
  for (int i = 0; i < draws; ++i) {
    static_cast<void>(objective.set_baseline(resampled(baseline, rng)));
    double drawn = 0;
    for (std::size_t c = 0; c < candidates.size(); ++c)
      drawn += objective.reward(resampled(candidates[rng.below(candidates.size())], rng));
    rewards.push_back(drawn / count);
  }
  return {std::exp(sum / count), exponential(percentile_interval(rewards, confidence))};
}

}  // namespace warpath
