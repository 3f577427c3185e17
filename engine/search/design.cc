#include "engine/search/design.h"

#include <algorithm>
#include <cmath>

namespace warpath {

Design::Design(const Lattice& lattice, const DesignOptions& options)
    : features_(lattice), draws_(options.design_draws), roundness_(options.design_roundness) {
  for (std::size_t i = 0; i < lattice.axes(); ++i)
    span_.push_back(std::max(1.0, static_cast<double>(lattice.levels(i)) - 1));
  // before any is known to be ok, the middle is
  ok_ = {.count = 1, .sum = span_};
  for (double& level : ok_.sum) level /= 2;
  failed_ = {.count = 0, .sum = std::vector<double>(span_.size())};
}

void Design::add(std::span<const Level> point) {
  points_.emplace_back(point.begin(), point.end());
}

void Design::judge(std::span<const Level> point, bool ok) {
  Group& group = ok ? ok_ : failed_;
  group.count += 1;
  for (std::size_t i = 0; i < point.size(); ++i) group.sum[i] += point[i];
}

double Design::risk(std::span<const Level> point) const {
  if (failed_.count == 0) return 0;
  double along = 0, most = 0;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double direction = (failed_.sum[i] / failed_.count - ok_.sum[i] / ok_.count) / span_[i];
    along += direction * (2 * point[i] / span_[i] - 1);
    most += std::abs(direction);
  }
  const double share = failed_.count / (failed_.count + ok_.count);
  return most > 0 ? along / most * share * share : 0;
}

double Design::score(std::span<const Level> point) const {
  double nearest = points_.empty() ? 0 : static_cast<double>(point.size());
  for (const std::vector<Level>& other : points_) {
    double distance = 0;
    for (std::size_t i = 0; i < point.size(); ++i)
      distance += std::abs(point[i] - other[i]) / span_[i];
    nearest = std::min(nearest, distance);
  }
  constexpr double kRisk = 2;
  return nearest / static_cast<double>(point.size()) + roundness_ * features_.roundness(point) -
         kRisk * risk(point);
}

bool Design::draw(const Lattice& lattice, Rng& rng, std::span<Level> point) const {
  std::vector<Level> drawn(point.size());
  double best = 0;
  bool found = false;
  for (int i = 0; i < draws_; ++i) {
    if (!lattice.draw(rng, drawn)) return found;
    if (const double s = score(drawn); !found || s > best) {
      best = s;
      found = true;
      std::copy(drawn.begin(), drawn.end(), point.begin());
    }
  }
  return found;
}

}  // namespace warpath
