#include "runners/cuda/measure/quiet.h"

#include <doctest/doctest.h>

#include <cmath>

#include "engine/base/rng.h"

using namespace warpath;
using namespace warpath::cuda;
using Next = QuietJudgement::Next;

namespace {

/// Launches of two kernels on an imagined device, with a neighbour that takes some of it.
class FakeDevice {
 public:
  explicit FakeDevice(std::uint64_t seed) : rng_(seed, "fake device") {}
  double baseline_ns = 4e6, candidate_ns = 1e6;
  double noise = 0.003;       ///< relative, of each sample
  double neighbour = 0;       ///< share of the time that it has, in slices
  bool only_between = false;  ///< it rests while the canary runs
  int pairs = 10;
  bool flips = false;  ///< the candidate itself has two speeds
  double flip_share = 0.4, flip_factor = 1.3;

  [[nodiscard]] CanaryReading canary() {
    constexpr double kLaunchNs = 40e3, kSliceNs = 2e6;
    constexpr int kLaunches = 256;
    const double share = only_between ? 0 : neighbour;
    std::vector<double> launches;
    double span = 0;
    for (int i = 0; i < kLaunches; ++i) {
      double ns = kLaunchNs * (1 + 0.001 * rng_.normal());
      // So often that all slices together are the neighbour's share.
      if (share > 0 && rng_.uniform() < kLaunchNs / kSliceNs * share / (1 - share)) ns += kSliceNs;
      launches.push_back(ns);
      span += ns;
    }
    return read_canary(launches, span);
  }

  [[nodiscard]] Take take() {
    Take out;
    out.before = canary();
    PairedPart part;
    std::vector<double> times;
    for (int i = 0; i < pairs; ++i) {
      const double other = sample(baseline_ns),
                   own = sample(candidate_ns) *
                         (flips && rng_.uniform() < flip_share ? flip_factor : 1);
      part.log_ratios.push_back(std::log(other / own));
      part.residuals.push_back(other / baseline_ns);
      part.residuals.push_back(own / candidate_ns);
      times.push_back(own);
    }
    part.candidate_ns = trimmed_mean(times);
    out.parts = {part};
    out.after = canary();
    return out;
  }

 private:
  double sample(double ns) {
    const double disturbed = neighbour > 0 && rng_.uniform() < neighbour ? 1 + rng_.uniform() : 1;
    return ns * disturbed * (1 + noise * rng_.normal());
  }
  Rng rng_;
};

/// Takes until there is a judgement.
QuietJudgement measured(FakeDevice& device,
                        double searched_ns,
                        std::vector<Take>& takes,
                        double rest_ns = 40e3,
                        const QuietLimits& limits = {}) {
  for (;;) {
    takes.push_back(device.take());
    QuietJudgement judgement = judge_takes(takes, searched_ns, rest_ns, limits);
    if (judgement.next != Next::again) return judgement;
  }
}

}  // namespace

TEST_SUITE_BEGIN("quiet");

TEST_CASE("on a quiet device the first take is accepted") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    FakeDevice device(seed);
    std::vector<Take> takes;
    const QuietJudgement judgement = measured(device, 1e6, takes);
    CHECK(judgement.next == Next::accept);
    CHECK(judgement.why.empty());
    CHECK(takes.size() == 1);
    CHECK(gain_of(takes).log_ratio == doctest::Approx(std::log(4)).epsilon(0.005));
  }
}

TEST_CASE("what a busy device gives is never accepted, however regular it looks") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const double share : {0.4, 0.5, 0.9}) {
      CAPTURE(seed);
      CAPTURE(share);
      FakeDevice device(seed);
      device.neighbour = share;
      std::vector<Take> takes;
      const QuietJudgement judgement = measured(device, 0, takes);
      CHECK(judgement.next == Next::give_up);
      CHECK(judgement.why.find("something else takes") == 0);
      CHECK(takes.size() == 4);
    }
  }
}

/// True unless a result was accepted that is more than 2 % from the truth.
static bool true_or_none(FakeDevice& device, double truth) {
  std::vector<Take> takes, counted;
  const QuietJudgement judgement = measured(device, 0, takes);
  for (const std::size_t i : judgement.counted) counted.push_back(takes[i]);
  return judgement.next != Next::accept || std::abs(gain_of(counted).log_ratio - truth) <= 0.02;
}

TEST_CASE(
    "a neighbour so small, or so clever, that it is overlooked at times does not make a result "
    "false") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const double share : {0.02, 0.1, 0.2, 0.5}) {
      for (const bool only_between : {false, true}) {
        CAPTURE(seed);
        CAPTURE(share);
        CAPTURE(only_between);
        FakeDevice device(seed);
        device.neighbour = share;
        device.only_between = only_between;
        CHECK(true_or_none(device, std::log(4)));
      }
    }
  }
}

TEST_CASE("a disturbance that passes costs takes, not the result") {
  FakeDevice device(3);
  device.neighbour = 0.5;
  std::vector<Take> takes{device.take()};
  CHECK(judge_takes(takes, 1e6, 40e3).next == Next::again);
  device.neighbour = 0;
  takes.push_back(device.take());
  const QuietJudgement judgement = judge_takes(takes, 1e6, 40e3);
  CHECK(judgement.next == Next::accept);
  CHECK(judgement.counted == std::vector<std::size_t>{1});
}

TEST_CASE("a kernel slowed down all along is told by the canary that was faster before") {
  FakeDevice device(1);
  std::vector<Take> takes;
  const QuietJudgement judgement = measured(device, 0, takes, 20e3);
  CHECK(judgement.next == Next::give_up);
  CHECK(judgement.why == "a known kernel takes 100 % longer than before");
}

TEST_CASE("a device that the launches themselves have heated is not busy") {
  FakeDevice device(1);
  std::vector<Take> takes{device.take()};
  takes[0].after.median_ns *= 1.4;
  CHECK(judge_takes(takes, 1e6, 40e3).next == Next::accept);
  takes[0].before.median_ns *= 1.4;
  CHECK(judge_takes(takes, 1e6, 40e3).next == Next::again);
}

TEST_CASE(
    "what differs from the search is timed once more; a second take that says the same is "
    "believed") {
  FakeDevice device(5);
  std::vector<Take> takes{device.take()};
  CHECK(judge_takes(takes, 0.8e6, 40e3).next == Next::again);
  takes.push_back(device.take());
  const QuietJudgement judgement = judge_takes(takes, 0.8e6, 40e3);
  CHECK(judgement.next == Next::accept);
  CHECK(judgement.counted == std::vector<std::size_t>{1});
  CHECK(judgement.why.find("+25") == 0);
  // One that says something else again is not.
  device.candidate_ns = 0.9e6;
  takes = {takes[0], device.take()};
  CHECK(judge_takes(takes, 0.8e6, 40e3).next == Next::again);
}

TEST_CASE(
    "a kernel that has two speeds of its own is reported only where quiet takes agree within the "
    "width together") {
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeDevice device(seed);
    device.flips = true;
    std::vector<Take> takes;
    const QuietJudgement judgement = measured(device, 0, takes);
    if (judgement.next != Next::accept) continue;
    ++accepted;
    std::vector<Take> counted;
    for (const std::size_t i : judgement.counted) counted.push_back(takes[i]);
    const Gain gain = gain_of(counted);
    CHECK(gain.interval.high - gain.interval.low <= 0.02);
  }
  CHECK(accepted < 20);
}

TEST_CASE("once time is over takes that agree count at a greater width, and are as true") {
  constexpr QuietLimits kLate{.width_together = 0.03};
  const double truth = std::log(4 / 1.066) + 2.0 / 3 * std::log(1.066);
  int sooner = 0, accepted = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    FakeDevice device(seed);
    device.flips = true;
    device.flip_share = 1.0 / 3;
    device.flip_factor = 1.066;
    device.pairs = 30;
    std::vector<Take> usual, takes, counted;
    static_cast<void>(measured(device, 0, usual));
    device = FakeDevice(seed);
    device.flips = true;
    device.flip_share = 1.0 / 3;
    device.flip_factor = 1.066;
    device.pairs = 30;
    const QuietJudgement judgement = measured(device, 0, takes, 40e3, kLate);
    CHECK(takes.size() <= usual.size());
    sooner += takes.size() < usual.size() ? 1 : 0;
    if (judgement.next != Next::accept) continue;
    ++accepted;
    for (const std::size_t i : judgement.counted) counted.push_back(takes[i]);
    const Gain gain = gain_of(counted);
    CHECK(gain.interval.high - gain.interval.low <= kLate.width_together);
    CHECK(std::abs(gain.log_ratio - truth) <= 0.02);
  }
  CHECK(accepted >= 36);
  CHECK(sooner >= 20);
}

TEST_CASE("launches of two kinds count by how often they come, the same in every measurement") {
  Welford gains;
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeDevice device(seed);
    device.flips = true;
    device.flip_share = 1.0 / 3;
    device.flip_factor = 1.066;
    device.pairs = 40;
    std::vector<Take> takes, counted;
    const QuietJudgement judgement = measured(device, 0, takes);
    if (judgement.next != Next::accept) continue;
    ++accepted;
    for (const std::size_t i : judgement.counted) counted.push_back(takes[i]);
    gains.add(gain_of(counted).log_ratio);
  }
  CHECK(accepted >= 18);
  CHECK(gains.mean > std::log(4 / 1.066) + 0.02);
  CHECK(gains.mean < std::log(4) - 0.01);
  CHECK(gains.deviation() < 0.005);
}

TEST_CASE("few long launches of two kinds are taken until they are narrow together") {
  int accepted = 0, more_than_four = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    FakeDevice device(seed);
    device.flips = true;
    device.flip_share = 0.3;
    device.flip_factor = 1.065;
    device.pairs = 16;
    std::vector<Take> takes;
    accepted += measured(device, 0, takes).next == Next::accept ? 1 : 0;
    more_than_four += takes.size() > 4 ? 1 : 0;
    CHECK(takes.size() <= 8);
  }
  CHECK(accepted >= 38);
  CHECK(more_than_four > 0);
}

TEST_CASE(
    "noise of a percent and a half is the kernel's own and does not keep it from being reported") {
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeDevice device(seed);
    device.noise = 0.015;
    device.pairs = 30;
    std::vector<Take> takes;
    accepted += measured(device, 1e6, takes).next == Next::accept ? 1 : 0;
  }
  CHECK(accepted >= 16);
}

TEST_CASE("a canary without neighbours explains its time, one with a neighbour does not") {
  CHECK(read_canary(std::vector<double>(100, 40.0), 4000).stolen == doctest::Approx(0));
  CHECK(read_canary(std::vector<double>(100, 40.0), 8000).stolen == doctest::Approx(0.5));
  CHECK(read_canary(std::vector<double>(100, 40.0), 8000).median_ns == 40);
}

TEST_SUITE_END();
