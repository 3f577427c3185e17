#include "engine/search/point_features.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpath {
namespace {

constexpr int kMostZeros = 8;  // beyond 256 nothing on a GPU asks for more

float trailing_zeros(std::int64_t value) {
  return value > 0 ? static_cast<float>(
                         std::min(kMostZeros, std::countr_zero(static_cast<std::uint64_t>(value))))
                   : 0.0F;
}

}  // namespace

Features::Features(const Lattice& lattice) : axes_(lattice.axes()) {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    Axis& axis = axes_[i];
    // the least value has a log
    const double shift = 1 - static_cast<double>(std::min<std::int64_t>(lattice.value(i, 0), 1));
    for (std::size_t level = 0; level < lattice.levels(i); ++level) {
      const std::int64_t value = lattice.value(i, static_cast<Level>(level));
      axis.zeros.push_back(trailing_zeros(value));
      axis.log2.push_back(static_cast<float>(std::log2(static_cast<double>(value) + shift)));
      axis.most_zeros = std::max(axis.most_zeros, axis.zeros.back());
    }
    axis.divisible = !std::is_sorted(axis.zeros.begin(), axis.zeros.end());
  }
}

void Features::of(std::span<const Level> point, std::span<float> out) const {
  const std::size_t n = axes_.size();
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = point[i];
    out[n + i] = axes_[i].zeros[point[i]];
    out[2 * n + i] = axes_[i].log2[point[i]];
  }
}

double Features::roundness(std::span<const Level> point) const {
  double sum = 0;
  int counted = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!axes_[i].divisible) continue;
    sum += static_cast<double>(axes_[i].zeros[point[i]] / axes_[i].most_zeros);
    ++counted;
  }
  return counted == 0 ? 0 : sum / counted;
}

}  // namespace warpath
