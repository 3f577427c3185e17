#include "engine/search/forest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace warpath {

namespace {

// Four at once; what a comparison yields is -1 where it holds.
using Floats = float __attribute__((vector_size(16)));
using Ints = std::int32_t __attribute__((vector_size(16)));

Floats floats_at(const float* from) {
  Floats out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

/// Of the 53 bits behind Rng::uniform(): those below it are the draws below `share`.
std::uint64_t bits_below(double share) {
  return static_cast<std::uint64_t>(std::ceil(std::clamp(share, 0.0, 1.0) * 0x1p53));
}

}  // namespace

/// The trees of one fit. All sums run over the members of a node in their order, which makes their
/// last bits a function of the seed. Most nodes have a handful of members that few axes tell apart:
/// what a draw costs that comes to nothing decides what a fit costs.
///
///     a row:  levels | divisibilities | padding | logs | pairs     pairs: what the trials on two
///     logs weigh, of the node at hand
class Forest::Growth {
 public:
  Growth(const Features& features,
         const Settings& settings,
         std::span<const float> rows,
         std::span<const float> targets,
         const Rng& rng);

  /// Appends a tree.
  void tree(std::vector<Split>& nodes) {
    std::iota(members_.begin(), members_.end(), 0U);
    std::copy(targets_.begin(), targets_.end(), values_.begin());
    grow(nodes, 0, members_.size());
  }

  [[nodiscard]] const Rng& rng() const { return rng_; }

 private:
  struct Trial {
    Split split;
    std::size_t column = 0;  // of a row, that it compares
    float left = 0;          // sum of the targets at most the threshold
    float left_count = 0;    // how many they are
  };
  static constexpr std::size_t kAtOnce = 8;
  static constexpr float kLeastWidth = 1e-6F;

  [[nodiscard]] const float* row(std::uint32_t member) const { return &rows_[member * stride_]; }
  /// Sets low_ and width_.
  void measure(std::span<const std::uint32_t> members);
  void draw_trials(std::span<const std::uint32_t> members);
  /// Adds a trial on two logs if it separates any members.
  void try_pair(std::size_t axis,
                std::size_t other,
                float sign,
                std::span<const std::uint32_t> members);
  void add_trial(const Split& split, std::size_t column) {
    trials_[trial_count_++] = {.split = split, .column = column};
  }
  /// Sets `left` and `left_count` of all trials.
  void weigh(std::span<const std::uint32_t> members, std::span<const float> values);
  /// The trial of greatest gain, the first of equal ones; null if none separates the members.
  [[nodiscard]] const Trial* best_trial(float sum, float count) const;
  /// Partitions: moves members at or below the threshold to the front, by exchanges from both ends.
  /// Returns their number.
  std::size_t divide(const Trial& trial, std::size_t begin, std::size_t end);
  void grow(std::vector<Split>& nodes, std::size_t begin, std::size_t end);

  std::span<const float> targets_;
  Rng rng_;
  std::size_t axes_;
  std::size_t padded_;  // levels and divisibilities of a row, a multiple of four
  std::size_t stride_;  // of rows_
  std::uint64_t pair_bits_, divisibility_bits_;
  std::vector<float> rows_;
  // [2][axes]: what an axis is split on, its level or, if that says more, its divisibility
  std::vector<std::uint16_t> single_;
  std::vector<std::uint32_t> members_;  // those of a node side by side
  std::vector<float> values_;           // their targets
  std::vector<std::uint32_t> misplaced_;
  std::vector<float> low_, width_;  // of levels and divisibilities, of the node at hand
  std::vector<Trial> trials_;       // trial_count_ of them
  std::size_t trial_count_ = 0;
};

Forest::Growth::Growth(const Features& features,
                       const Settings& settings,
                       std::span<const float> rows,
                       std::span<const float> targets,
                       const Rng& rng)
    : targets_(targets),
      rng_(rng),
      axes_(features.axes()),
      padded_((2 * axes_ + 3) / 4 * 4),
      stride_(padded_ + 2 * axes_),
      pair_bits_(bits_below(axes_ > 1 ? settings.pairs : 0)),
      divisibility_bits_(bits_below(settings.pairs + settings.divisibility)),
      rows_(targets.size() * stride_),
      single_(2 * axes_),
      members_(targets.size()),
      values_(targets.size()),
      misplaced_(targets.size()),
      low_(padded_),
      width_(padded_),
      trials_(axes_) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto from = rows.subspan(i * features.count(), features.count());
    std::copy_n(from.begin(), 2 * axes_, &rows_[i * stride_]);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(2 * axes_), axes_,
                &rows_[i * stride_ + padded_]);
  }
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    single_[axis] = static_cast<std::uint16_t>(axis);
    single_[axes_ + axis] =
        static_cast<std::uint16_t>(features.divisible(axis) ? axes_ + axis : axis);
  }
}

void Forest::Growth::measure(std::span<const std::uint32_t> members) {
  for (std::size_t f = 0; f < padded_; f += 4) {
    Floats low = floats_at(row(members[0]) + f), high = low;
    for (const std::uint32_t m : members.subspan(1)) {
      const Floats x = floats_at(row(m) + f);
      low = x < low ? x : low;
      high = x > high ? x : high;
    }
    const Floats width = high - low;
    std::memcpy(&low_[f], &low, sizeof low);
    std::memcpy(&width_[f], &width, sizeof width);
  }
}

void Forest::Growth::draw_trials(std::span<const std::uint32_t> members) {
  trial_count_ = 0;
  const std::size_t axes = axes_, most = 6 * axes_;
  const std::uint64_t pair_bits = pair_bits_, divisibility_bits = divisibility_bits_;
  const std::uint16_t* const single = single_.data();
  const float* const width = width_.data();
  Rng rng = rng_;  // a copy that nothing else can reach lies in registers
  for (std::size_t tries = 0; trial_count_ < axes && tries < most; ++tries) {
    const std::size_t axis = rng.below(axes);
    const std::uint64_t kind = rng.next() >> 11U;
    if (kind < pair_bits) {
      std::size_t other = rng.below(axes - 1);
      other += other >= axis ? 1 : 0;
      const float sign = rng.uniform() < 0.5 ? 1.0F : -1.0F;
      if (width[axis] + width[other] == 0) continue;
      rng_ = rng;
      try_pair(axis, other, sign, members);
      rng = rng_;
      continue;
    }
    const std::size_t f = single[axis + (kind < divisibility_bits ? axes : 0)];
    if (width[f] < kLeastWidth) continue;
    add_trial({.first = static_cast<std::int16_t>(f),
               .threshold = low_[f] + static_cast<float>(rng.uniform()) * width[f]},
              f);
  }
  rng_ = rng;
}

void Forest::Growth::try_pair(std::size_t axis,
                              std::size_t other,
                              float sign,
                              std::span<const std::uint32_t> members) {
  const std::size_t column = padded_ + axes_ + trial_count_;
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (const std::uint32_t m : members) {
    float* const at = &rows_[m * stride_];
    const float x = at[column] = at[padded_ + axis] + sign * at[padded_ + other];
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  if (high - low < kLeastWidth) return;
  add_trial({.first = static_cast<std::int16_t>(2 * axes_ + axis),
             .second = static_cast<std::int16_t>(2 * axes_ + other),
             .sign = sign,
             .threshold = low + static_cast<float>(rng_.uniform()) * (high - low)},
            column);
}

void Forest::Growth::weigh(std::span<const std::uint32_t> members, std::span<const float> values) {
  // eight sums that do not wait for each other
  for (std::size_t k = 0; k < trial_count_; k += kAtOnce) {
    const std::size_t end = std::min(kAtOnce, trial_count_ - k);
    std::array<std::size_t, kAtOnce> c{};
    std::array<float, kAtOnce> threshold{}, left{};
    std::array<std::int32_t, kAtOnce> left_count{};
    for (std::size_t i = 0; i < end; ++i) {
      c[i] = trials_[k + i].column;
      threshold[i] = trials_[k + i].split.threshold;
    }
    const Floats threshold_a = floats_at(&threshold[0]), threshold_b = floats_at(&threshold[4]);
    Floats sum_a{}, sum_b{};
    Ints count_a{}, count_b{};
    for (std::size_t j = 0; j < members.size(); ++j) {
      const float* const x = row(members[j]);
      const Floats y = Floats{} + values[j];
      const Ints left_a = Floats{x[c[0]], x[c[1]], x[c[2]], x[c[3]]} <= threshold_a;
      const Ints left_b = Floats{x[c[4]], x[c[5]], x[c[6]], x[c[7]]} <= threshold_b;
      sum_a += left_a ? y : Floats{};
      sum_b += left_b ? y : Floats{};
      count_a -= left_a;
      count_b -= left_b;
    }
    std::memcpy(&left[0], &sum_a, sizeof sum_a);
    std::memcpy(&left[4], &sum_b, sizeof sum_b);
    std::memcpy(&left_count[0], &count_a, sizeof count_a);
    std::memcpy(&left_count[4], &count_b, sizeof count_b);
    for (std::size_t i = 0; i < end; ++i) {
      trials_[k + i].left = left[i];
      trials_[k + i].left_count = static_cast<float>(left_count[i]);
    }
  }
}

const Forest::Growth::Trial* Forest::Growth::best_trial(float sum, float count) const {
  const Trial* best = nullptr;
  float highest = 0;
  for (const Trial& trial : std::span(trials_).first(trial_count_)) {
    if (trial.left_count == 0 || trial.left_count == count) continue;
    const float right = sum - trial.left;
    const float gain =
        trial.left * trial.left / trial.left_count + right * right / (count - trial.left_count);
    if (best == nullptr || gain > highest) best = &trial, highest = gain;
  }
  return best;
}

std::size_t Forest::Growth::divide(const Trial& trial, std::size_t begin, std::size_t end) {
  const auto is_left = [&](std::size_t at) {
    return row(members_[at])[trial.column] <= trial.split.threshold;
  };
  const std::size_t middle = begin + static_cast<std::size_t>(trial.left_count);
  std::size_t wrong = 0;
  for (std::size_t at = begin; at < middle; ++at) {
    misplaced_[wrong] = static_cast<std::uint32_t>(at);
    wrong += is_left(at) ? 0 : 1;
  }
  for (std::size_t at = end, k = 0; k < wrong;) {
    if (!is_left(--at)) continue;
    std::swap(members_[misplaced_[k]], members_[at]);
    std::swap(values_[misplaced_[k++]], values_[at]);
  }
  return middle;
}

void Forest::Growth::grow(std::vector<Split>& nodes, std::size_t begin, std::size_t end) {
  const auto values = std::span<const float>(values_).subspan(begin, end - begin);
  const auto members = std::span<const std::uint32_t>(members_).subspan(begin, end - begin);
  float sum = 0, squares = 0;
  for (const float y : values) {
    sum += y;
    squares += y * y;
  }
  const auto count = static_cast<float>(values.size());
  const std::size_t me = nodes.size();
  nodes.push_back({.threshold = sum / count});
  if (values.size() < 2 || squares - sum * sum / count < 1e-9F) return;
  measure(members);
  draw_trials(members);
  weigh(members, values);
  const Trial* const best = best_trial(sum, count);
  if (best == nullptr) return;
  Split split = best->split;
  const std::size_t middle = divide(*best, begin, end);
  grow(nodes, begin, middle);
  split.right = static_cast<std::uint32_t>(nodes.size());
  nodes[me] = split;
  grow(nodes, middle, end);
}

void Forest::fit(std::span<const float> rows, std::span<const float> targets, Rng& rng) {
  nodes_.clear();
  roots_.clear();
  Growth growth(*features_, settings_, rows, targets, rng);
  for (int t = 0; t < settings_.trees; ++t) {
    roots_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    growth.tree(nodes_);
  }
  rng = growth.rng();
}

void Forest::predict(std::span<const float> rows, std::span<Prediction> out) const {
  struct Sums {
    double values = 0, squares = 0;
  };
  std::vector<Sums> sums(out.size());        // trees that agree have no deviation
  for (const std::uint32_t root : roots_) {  // a tree at a time: it stays in the cache
    const float* row = rows.data();
    for (Sums& s : sums) {
      const Split* node = &nodes_[root];
      while (node->first >= 0) {
        const float x = row[node->first] + node->sign * row[node->second];
        node = x <= node->threshold ? node + 1 : &nodes_[node->right];
      }
      const auto value = static_cast<double>(node->threshold);
      s.values += value;
      s.squares += value * value;
      row += features_->count();
    }
  }
  const auto trees = static_cast<double>(roots_.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double mean = sums[i].values / trees;
    out[i] = {.mean = static_cast<float>(mean),
              .deviation = static_cast<float>(
                  std::sqrt(std::max(0.0, sums[i].squares / trees - mean * mean)))};
  }
}

}  // namespace warpath
