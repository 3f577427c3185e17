#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace warpath {

/// A running mean; 0 of nothing.
struct Mean {
  double count = 0;
  double sum = 0;
  void add(double x) { count += 1, sum += x; }
  [[nodiscard]] double value() const { return count > 0 ? sum / count : 0; }
};

/// Least squares of gain on ln P, from pairs that arrive one by one.
class Trust {
 public:
  void add(double x, double y) {
    x_.add(x), y_.add(y);
    xx_ += x * x, xy_ += x * y;
  }
  /// The gain expected at `x`. A prior that misleads is not followed, nor reversed.
  [[nodiscard]] double at(double x) const {
    constexpr double kRidge = 1;
    const double covariance = xy_ - x_.count * x_.value() * y_.value();
    const double variance = xx_ - x_.count * x_.value() * x_.value();
    return y_.value() + std::max(0.0, covariance / (kRidge + variance)) * (x - x_.value());
  }

 private:
  Mean x_, y_;
  double xx_ = 0, xy_ = 0;
};

/// A move of a node.
struct Candidate {
  std::uint32_t action = 0;
  double log_prior = 0;     // of P(s,a) times the number of actions
  std::uint64_t label = 0;  // Space::label
};

/// What moves gained wherever they were tried.
class Gains {
 public:
  void add(const Candidate& move, double gain) {
    size_.add(std::abs(gain));
    trust_.add(move.log_prior, gain);
    if (move.label != 0) history_[move.label].add(gain);
  }
  /// The gain to expect: the mean at other nodes, shrunk to what P predicts, with a `bonus` for
  /// what was seldom tried, in mean absolute gains.
  [[nodiscard]] double expected(const Candidate& move, double bonus) const {
    constexpr double kWeight = 2;  // trials that the prior counts for
    const auto known = history_.find(move.label);
    const Mean own = known == history_.end() ? Mean{} : known->second;
    const double mean = (kWeight * trust_.at(move.log_prior) + own.sum) / (kWeight + own.count);
    return mean + bonus * size_.value() / std::sqrt(1 + own.count);
  }
  /// Mean absolute gain.
  [[nodiscard]] double size() const { return size_.value(); }

 private:
  std::unordered_map<std::uint64_t, Mean> history_;  // by label
  Mean size_;
  Trust trust_;
};

}  // namespace warpath
