#include "engine/search/lattice.h"

namespace warpath {

bool Lattice::draw(Rng& rng, std::span<Level> point) const {
  constexpr int kTries = 100'000;
  for (int i = 0; i < kTries; ++i) {
    for (std::size_t axis = 0; axis < point.size(); ++axis)
      point[axis] = static_cast<Level>(rng.below(levels(axis)));
    if (legal(point)) return true;
  }
  return false;
}

void redraw_axis(const Lattice& lattice, Rng& rng, std::size_t axis, std::span<Level> point) {
  const std::size_t levels = lattice.levels(axis);
  if (levels < 2) return;
  const auto drawn = static_cast<Level>(rng.below(levels - 1));
  point[axis] = static_cast<Level>(drawn + (drawn >= point[axis] ? 1 : 0));
}

}  // namespace warpath
