#include "engine/search/design.h"

#include <algorithm>
#include <cmath>

namespace warpath {

Design::Design(const Lattice& lattice, const DesignOptions& options)
    : features_(lattice), draws_(options.design_draws), roundness_(options.design_roundness) {
  for (std::size_t i = 0; i < lattice.axes(); ++i)
    span_.push_back(std::max(1.0, static_cast<double>(lattice.levels(i)) - 1));
  failed_.resize(span_.size());
}

void Design::add(std::span<const Level> point) {
  points_.emplace_back(point.begin(), point.end());
}

void Design::judge(std::span<const Level> point, bool ok) {
  any_ok_ = any_ok_ || ok;
  if (ok) return;
  // levels from -1 to 1
  for (std::size_t i = 0; i < point.size(); ++i) failed_[i] += 2 * point[i] / span_[i] - 1;
}

double Design::risk(std::span<const Level> point) const {
  if (any_ok_) return 0;
  double along = 0, most = 0;
  for (std::size_t i = 0; i < point.size(); ++i) {
    along += failed_[i] * (2 * point[i] / span_[i] - 1);
    most += std::abs(failed_[i]);
  }
  return most > 0 ? along / most : 0;
}

double Design::score(std::span<const Level> point) const {
  double nearest = points_.empty() ? 0 : static_cast<double>(point.size());
  for (const std::vector<Level>& other : points_) {
    double distance = 0;
    for (std::size_t i = 0; i < point.size(); ++i)
      distance += std::abs(point[i] - other[i]) / span_[i];
    nearest = std::min(nearest, distance);
  }
  return nearest / static_cast<double>(point.size()) + roundness_ * features_.roundness(point) -
         risk(point);
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
