#include "engine/search/move_gains.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpath {
namespace {

/// Number of moves that are in one of two sorted lists only.
std::size_t difference(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  std::size_t i = 0, j = 0, common = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j])
      ++i, ++j, ++common;
    else if (a[i] < b[j])
      ++i;
    else
      ++j;
  }
  return a.size() + b.size() - 2 * common;
}

/// A weighted mean.
struct Weighed {
  double count = 0, sum = 0;
  void add(double weight, double x) { count += weight, sum += weight * x; }
  [[nodiscard]] double shrunk_to(double mean, double trials) const {
    return (trials * mean + sum) / (trials + count);
  }
};

}  // namespace

void Trust::add(double x, double y) {
  x_.add(x), y_.add(y);
  xx_ += x * x, xy_ += x * y;
}

double Trust::at(double x) const {
  constexpr double kRidge = 1;
  const double covariance = xy_ - x_.count * x_.value() * y_.value();
  const double variance = xx_ - x_.count * x_.value() * x_.value();
  return y_.value() + std::max(0.0, covariance / (kRidge + variance)) * (x - x_.value());
}

std::uint32_t Gains::add_context(std::vector<std::uint64_t> labels) {
  std::ranges::sort(labels);
  std::vector<std::uint64_t>& made = contexts_.emplace_back();
  for (const std::uint64_t label : labels)
    !made.empty() && made.back() == label ? made.pop_back() : made.push_back(label);
  return static_cast<std::uint32_t>(contexts_.size() - 1);
}

void Gains::add(const NodeMove& move, std::uint32_t context, std::optional<double> measured) {
  const double gain = measured.value_or(0);
  unchanged_[move.family] += measured ? -1 : 1;
  if (std::abs(gain) > margin_) size_.add(std::abs(gain));
  trust_.add(move.log_prior, gain);
  if (move.label != 0) history_[move.family].push_back({move.label, context, gain});
}

bool Gains::changes_little(std::uint64_t family) const {
  const auto it = unchanged_.find(family);
  return it != unchanged_.end() && it->second > 1;
}

void Gains::look_from(std::uint32_t context) {
  if (from_ == context) return;
  from_ = context;
  ++look_;
}

double Gains::weight(std::uint32_t context) {
  if (context >= weights_.size()) weights_.resize(contexts_.size());
  auto& [look, out] = weights_[context];
  if (std::exchange(look, look_) == look_) return out;
  const std::size_t apart = difference(contexts_[context], contexts_[from_]);
  while (apart >= by_difference_.size())
    by_difference_.push_back(std::exp(-static_cast<double>(by_difference_.size()) / reach_));
  return out = by_difference_[apart];
}

double Gains::expected(const NodeMove& move, double bonus) {
  constexpr double kPrior = 2;           // trials that each more general mean counts for
  constexpr std::ptrdiff_t kMost = 100;  // the family's latest ones
  Weighed own, others;
  double squares = kPrior * size_.value() * size_.value(), count = kPrior;
  if (const auto known = history_.find(move.family); known != history_.end()) {
    const std::vector<Trial>& trials = known->second;
    for (auto t = trials.end() - std::min(std::ssize(trials), kMost); t != trials.end(); ++t) {
      (t->label == move.label ? own : others).add(weight(t->context), t->gain);
      squares += t->gain * t->gain, ++count;
    }
  }
  const double mean = own.shrunk_to(others.shrunk_to(trust_.at(move.log_prior), kPrior), kPrior);
  return mean + bonus * std::sqrt(squares / count / (1 + own.count + others.count));
}

}  // namespace warpath
