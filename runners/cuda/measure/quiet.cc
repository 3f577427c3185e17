#include "runners/cuda/measure/quiet.h"

#include <algorithm>
#include <cmath>

#include "engine/base/format.h"

namespace warpath::cuda {
namespace {

constexpr double kConfidence = 0.99;
constexpr int kDraws = 1000;

/// What the device did beside the take; empty: nothing that shows.
std::string other_work(const Take& take, double rest_ns, const QuietLimits& limits) {
  const CanaryReading worse{.stolen = std::max(take.before.stolen, take.after.stolen),
                            .median_ns = take.before.median_ns};
  return other_work(worse, rest_ns, limits);
}

/// How the samples of a take contradict each other.
std::string discord(const Take& take, const QuietLimits& limits) {
  const Gain gain = gain_of({&take, 1});
  const double width = gain.interval.high - gain.interval.low;
  if (!(width <= limits.width))
    return format("pairs lie between %+.2f and %+.2f %%", 100 * std::expm1(gain.interval.low),
                  100 * std::expm1(gain.interval.high));
  const bool humps = std::ranges::any_of(take.parts, [](const PairedPart& part) {
    std::vector<double> ratios;
    for (const double log_ratio : part.log_ratios) ratios.push_back(std::exp(log_ratio));
    return two_humps(part.residuals) || two_humps(ratios);
  });
  return humps ? "times are of two kinds" : "";
}

/// Weighted geometric mean over the workloads.
double candidate_ns(const Take& take) {
  WeightedMean logs;
  for (const PairedPart& part : take.parts) logs.add(std::log(part.candidate_ns), part.weight);
  return logs.weight > 0 ? std::exp(logs.value()) : 0;
}

/// Two takes agree where they differ by no more than `most`, or than their own intervals explain.
bool agree(const Take& a, const Take& b, double most) {
  const Gain one = gain_of({&a, 1}), other = gain_of({&b, 1});
  const double explained =
      0.5 * (one.interval.high - one.interval.low + other.interval.high - other.interval.low);
  return std::max(std::abs(std::log(candidate_ns(a) / candidate_ns(b))),
                  std::abs(one.log_ratio - other.log_ratio)) <= std::max(most, explained);
}

}  // namespace

std::string other_work(const CanaryReading& reading, double rest_ns, const QuietLimits& limits) {
  if (reading.stolen > limits.stolen)
    return "something else takes " + percent_text(reading.stolen) + " of it";
  const double slower = reading.median_ns / rest_ns - 1;
  if (rest_ns > 0 && slower > limits.canary_slower)
    return "a known kernel takes " + percent_text(slower) + " longer than before";
  return "";
}

CanaryReading read_canary(std::span<const double> launches_ns, double span_ns) {
  const double typical = median(launches_ns);
  const double explained = typical * static_cast<double>(launches_ns.size());
  return {.stolen = span_ns > 0 ? std::clamp(1 - explained / span_ns, 0.0, 1.0) : 0,
          .median_ns = typical};
}

Gain gain_of(std::span<const Take> takes) {
  WeightedMean gain, low, high;
  for (std::size_t p = 0; !takes.empty() && p < takes.front().parts.size(); ++p) {
    std::vector<double> logs;
    for (const Take& take : takes)
      logs.insert(logs.end(), take.parts[p].log_ratios.begin(), take.parts[p].log_ratios.end());
    const double weight = takes.front().parts[p].weight;
    const Interval interval = bootstrap_trimmed_mean(logs, kConfidence, kDraws, p);
    gain.add(trimmed_mean(logs), weight);
    low.add(interval.low, weight);
    high.add(interval.high, weight);
  }
  if (gain.weight <= 0) return {};
  return {gain.value(), {low.value(), high.value()}};
}

QuietJudgement judge_takes(std::span<const Take> takes,
                           double searched_ns,
                           double canary_rest_ns,
                           const QuietLimits& limits) {
  using Next = QuietJudgement::Next;
  QuietJudgement out;
  if (takes.empty()) return out;
  const std::size_t last = takes.size() - 1;
  std::vector<std::size_t> quiet;  // whatever their own samples say
  for (std::size_t i = 0; i < takes.size(); ++i) {
    if (other_work(takes[i], canary_rest_ns, limits).empty()) quiet.push_back(i);
  }
  out.why = other_work(takes[last], canary_rest_ns, limits);
  if (out.why.empty()) {
    out.why = discord(takes[last], limits);
    if (out.why.empty()) {
      const double drift = searched_ns > 0 ? candidate_ns(takes[last]) / searched_ns - 1 : 0;
      const bool confirmed = std::ranges::any_of(quiet, [&](std::size_t i) {
        return i != last && discord(takes[i], limits).empty() &&
               agree(takes[i], takes[last], limits.agrees);
      });
      const std::string difference = format("%+.1f %% against the search's time", 100 * drift);
      if (std::abs(drift) <= limits.differs || confirmed)
        return {.next = Next::accept,
                .counted = {last},
                .why = std::abs(drift) <= limits.differs ? "" : difference};
      out.why = difference;
    }
  }
  const bool last_is_quiet = !quiet.empty() && quiet.back() == last;
  std::vector<Take> together;
  for (const std::size_t i : quiet) together.push_back(takes[i]);
  const bool all_agree = std::ranges::all_of(
      together, [&](const Take& take) { return agree(take, together.front(), limits.agrees); });
  const bool kernel_varies = last_is_quiet && together.size() >= 2 && all_agree;
  if (kernel_varies) {
    const Gain gain = gain_of(together);
    if (gain.interval.high - gain.interval.low <= limits.width_together)
      return {.next = Next::accept,
              .counted = quiet,
              .why = out.why + ", in " + std::to_string(quiet.size()) + " takes that agree"};
  }
  const int most = kernel_varies ? limits.takes_that_agree : limits.takes;
  if (static_cast<int>(takes.size()) >= most) out.next = Next::give_up;
  return out;
}

}  // namespace warpath::cuda
