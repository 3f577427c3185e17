#include "priors/tactics/draft_features.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

namespace warpath {
namespace {

/// Which resource limits the occupancy: names, not amounts.
constexpr std::string_view kNotAnAmount = "occupancy_limit_";

double logarithm(double amount) {
  return std::log2(1 + std::max(0.0, amount));
}

double amount(const Diagnosis& diagnosis, std::string_view fact) {
  const auto it = diagnosis.facts.find(fact);
  return it == diagnosis.facts.end() ? 0 : it->second.value;
}

double threads_held(const DeviceFacts& device, const Diagnosis& diagnosis) {
  const double room = device.multiprocessors * amount(diagnosis, "blocks_per_sm");
  return std::min(amount(diagnosis, "blocks"), room) * amount(diagnosis, "threads_per_block");
}

}  // namespace

Features draft_features(const DeviceFacts& device,
                        const Diagnosis& before,
                        const Diagnosis& after) {
  constexpr double kMost = 8, kScale = 3;  // of a change, in doublings
  std::set<std::string_view> names, measured;
  for (const Diagnosis* const side : {&before, &after}) {
    for (const auto& [name, fact] : side->facts) {
      names.insert(name);
      if (fact.source == FactSource::measured) measured.insert(name);
    }
  }
  Features out{{"1", 1}};
  const auto add = [&](std::string_view name, double from, double to) {
    const double change = logarithm(to) - logarithm(from);
    if (change != 0) out.emplace_back(name, std::clamp(change, -kMost, kMost) / kScale);
  };
  for (const std::string_view name : names) {
    if (!measured.contains(name) && !name.starts_with(kNotAnAmount))
      add(name, amount(before, name), amount(after, name));
  }
  add("threads_held", threads_held(device, before), threads_held(device, after));
  return out;
}

}  // namespace warpath
