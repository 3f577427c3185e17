#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/search/lattice.h"
#include "engine/search/point_features.h"

namespace warpath {

struct SearchOptions;  // engine/plugin/options.h

/// The first points of a search, chosen without knowledge: of a few random points, the one that is
/// far from earlier ones (maximin, Johnson, Moore and Ylvisaker 1990) and has round values.
class Design {
 public:
  Design(const Lattice& lattice, const SearchOptions& options);

  /// Draws a legal point; false if none was found.
  [[nodiscard]] bool draw(const Lattice& lattice, Rng& rng, std::span<Level> point) const;
  /// Adds a point that later ones keep away from.
  void add(std::span<const Level> point);

 private:
  [[nodiscard]] double score(std::span<const Level> point) const;

  Features features_;
  std::vector<double> span_;  // levels - 1 by axis, at least 1
  std::vector<std::vector<Level>> points_;
  int draws_;
  double roundness_;
};

}  // namespace warpath
