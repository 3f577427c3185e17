#include "engine/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpath {

Forest::Split Forest::drawn(Rng& rng) const {
  const auto axes = static_cast<std::int16_t>(features_->axes());
  Split split;
  split.first = static_cast<std::int16_t>(rng.below(static_cast<std::uint64_t>(axes)));
  const double kind = rng.uniform();
  if (kind < settings_.pairs && axes > 1) {
    auto other = static_cast<std::int16_t>(rng.below(static_cast<std::uint64_t>(axes - 1)));
    if (other >= split.first) ++other;
    split.first = static_cast<std::int16_t>(2 * axes + split.first);
    split.second = static_cast<std::int16_t>(2 * axes + other);
    split.sign = rng.uniform() < 0.5 ? 1.0F : -1.0F;
  } else if (kind < settings_.pairs + settings_.divisibility && features_->divisible(static_cast<std::size_t>(split.first))) {
    split.first = static_cast<std::int16_t>(axes + split.first);
  }
  return split;
}

void Forest::grow(std::span<std::uint32_t> members, Rng& rng) {
  const std::size_t stride = features_->count();
  const auto count = static_cast<float>(members.size());
  float sum = 0, squares = 0;
  for (const std::uint32_t m : members) {
    sum += targets_[m];
    squares += targets_[m] * targets_[m];
  }
  const std::size_t me = nodes_.size();
  nodes_.push_back({.threshold = sum / count});
  if (members.size() < 2 || squares - sum * sum / count < 1e-9F) return;

  Split best;
  float highest = -1;
  const std::size_t wanted = features_->axes();
  for (std::size_t useful = 0, tries = 0; useful < wanted && tries < 6 * wanted; ++tries) {
    Split split = drawn(rng);
    float low = 0, high = 0;
    for (std::size_t j = 0; j < members.size(); ++j) {
      const float x = column_[j] = at(split, &rows_[members[j] * stride]);
      low = j == 0 ? x : std::min(low, x);
      high = j == 0 ? x : std::max(high, x);
    }
    if (high - low < 1e-6F) continue;
    ++useful;
    split.threshold = low + static_cast<float>(rng.uniform()) * (high - low);
    float left = 0, left_count = 0;
    for (std::size_t j = 0; j < members.size(); ++j) {
      if (column_[j] > split.threshold) continue;
      left += targets_[members[j]];
      ++left_count;
    }
    if (left_count == 0 || left_count == count) continue;
    const float right = sum - left;
    const float gain = left * left / left_count + right * right / (count - left_count);
    if (best.first < 0 || gain > highest) best = split, highest = gain;
  }
  if (best.first < 0) return;
  const auto middle = std::partition(members.begin(), members.end(),
                                     [&](std::uint32_t m) { return at(best, &rows_[m * stride]) <= best.threshold; });
  const auto left = static_cast<std::size_t>(middle - members.begin());
  grow(members.first(left), rng);
  best.right = static_cast<std::uint32_t>(nodes_.size());
  nodes_[me] = best;
  grow(members.subspan(left), rng);
}

void Forest::fit(std::span<const float> rows, std::span<const float> targets, Rng& rng) {
  rows_ = rows;
  targets_ = targets;
  nodes_.clear();
  roots_.clear();
  column_.resize(targets.size());
  std::vector<std::uint32_t> members(targets.size());
  for (int t = 0; t < settings_.trees; ++t) {
    std::iota(members.begin(), members.end(), 0U);
    roots_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    grow(members, rng);
  }
}

Forest::Prediction Forest::predict(std::span<const float> row) const {
  double sum = 0, squares = 0;  // trees that agree have no deviation
  for (const std::uint32_t root : roots_) {
    const Split* node = &nodes_[root];
    while (node->first >= 0) node = at(*node, row.data()) <= node->threshold ? node + 1 : &nodes_[node->right];
    const double value = static_cast<double>(node->threshold);
    sum += value;
    squares += value * value;
  }
  const auto trees = static_cast<double>(roots_.size());
  const double mean = sum / trees;
  return {.mean = static_cast<float>(mean), .deviation = static_cast<float>(std::sqrt(std::max(0.0, squares / trees - mean * mean)))};
}

}  // namespace warpath
