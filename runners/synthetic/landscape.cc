#include "runners/synthetic/landscape.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "runners/synthetic/options.h"

namespace warpath {
namespace {

constexpr double kMeanTimeNs = 1e6;

/// Uniform in [0, 1) from 64 hashed bits.
double uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1.0p-53;
}

}  // namespace

Landscape::Landscape(const SyntheticOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed) {
  const auto knobs = static_cast<std::uint32_t>(options_.knobs);
  const std::size_t others =
      std::min(static_cast<std::size_t>(options_.ruggedness), static_cast<std::size_t>(knobs - 1));
  for (std::uint32_t i = 0; i < knobs; ++i) {
    Rng rng(seed_, "landscape/neighbours", i);
    std::vector<int> chosen;
    for (const std::uint32_t j : rng.permutation(knobs)) {
      if (j != i && chosen.size() < others) chosen.push_back(static_cast<int>(j));
    }
    std::ranges::sort(chosen);
    neighbours_.push_back(std::move(chosen));
    Rng steps(seed_, "landscape/plateaus", i);
    std::vector<int> counts_as{0};
    for (int level = 1; level < options_.levels; ++level) {
      counts_as.push_back(steps.uniform() < options_.plateau ? counts_as.back() : level);
    }
    counts_as_.push_back(std::move(counts_as));
  }
}

std::uint64_t Landscape::hash(std::string_view purpose, const Point& point) const {
  Hasher hasher;
  hasher.add(seed_).add(purpose);
  for (const int level : point) hasher.add(level);
  return hasher.digest().low;
}

bool Landscape::is_default(const Point& point) const {
  return std::ranges::all_of(point, [](int level) { return level == 0; });
}

Status Landscape::status(const Point& point) const {
  if (is_default(point) || uniform(hash("failure", point)) >= options_.failure) return Status::ok;
  // a point never fails for a busy device
  constexpr auto kFailures = static_cast<std::uint64_t>(Status::crashed);
  return static_cast<Status>(1 + hash("status", point) % kFailures);
}

double Landscape::trap(const Point& point) const {
  constexpr std::size_t kGroup = 3;
  double sum = 0;
  double groups = 0;
  for (std::size_t i = 0; i < point.size(); i += kGroup, ++groups) {
    const std::size_t size = std::min(kGroup, point.size() - i);
    const int top = static_cast<int>(size) * (options_.levels - 1);
    int level = 0;
    for (std::size_t j = i; j < i + size; ++j) level += point[j];
    // Time from -1 (all at the top) over +1 (one step short of it) down to -0.6 (all at the
    // bottom).
    sum += level == top ? -1 : -0.6 + 1.6 * static_cast<double>(level) / std::max(1, top - 1);
  }
  return sum / std::max(groups, 1.0);
}

double Landscape::log_time(const Point& point) const {
  double nk = 0;
  Point key;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const auto effective = [&](std::size_t knob) {
      return counts_as_[knob][static_cast<std::size_t>(point[knob])];
    };
    key.assign({static_cast<int>(i), effective(i)});
    for (const int j : neighbours_[i]) key.push_back(effective(static_cast<std::size_t>(j)));
    nk += Rng(hash("contribution", key), "landscape/normal").normal();
  }
  nk /= std::sqrt(static_cast<double>(point.size()));
  double log_time =
      options_.spread * ((1 - options_.deception) * nk + options_.deception * trap(point));
  if (!is_default(point) && uniform(hash("dip", point)) < options_.dip) log_time += options_.spread;
  return log_time;
}

double Landscape::time_ns(const Point& point) const {
  return kMeanTimeNs * std::exp(log_time(point));
}

std::optional<Landscape::Best> Landscape::optimum() const {
  if (std::pow(options_.levels, options_.knobs) > static_cast<double>(kMaxPoints))
    return std::nullopt;
  std::optional<Best> best;
  Point point(static_cast<std::size_t>(options_.knobs), 0);
  for (;;) {
    if (status(point) == Status::ok) {
      const double t = log_time(point);
      if (!best || t < best->log_time) best = Best{.point = point, .log_time = t};
    }
    std::size_t i = 0;
    while (i < point.size() && ++point[i] == options_.levels) point[i++] = 0;
    if (i == point.size()) return best;
  }
}

SyntheticOptions with_preset(SyntheticOptions options,
                             std::string_view preset,
                             std::string_view place) {
  if (preset.empty()) return options;
  if (preset == "smooth") {
    options.ruggedness = 0;
    options.plateau = options.dip = options.failure = 0;
  } else if (preset == "rugged") {
    options.ruggedness = 4;
  } else if (preset == "deceptive") {
    options.deception = 0.8;
    options.ruggedness = 0;
    options.dip = options.plateau = 0;
  } else if (preset == "plateau") {
    options.plateau = 0.5;
  } else if (preset == "cyclic") {
    options.knobs = 10;
    options.levels = 2;
  } else if (preset == "failing") {
    options.failure = 0.4;
  } else {
    std::string names;
    for (const Preset& p : kPresets) names += (names.empty() ? "" : ", ") + std::string(p.name);
    throw bad_input(place, preset, "a landscape: one of " + names);
  }
  return options;
}

}  // namespace warpath
