#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/plugin/option_group.h"
#include "engine/search/lattice.h"
#include "engine/search/point_features.h"

namespace warpath {

struct DesignOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  int design_draws = 10;
  double design_roundness = 0.5;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = DesignOptions;
    v(&O::design_draws,
      OptionText{"design_draws", "guided: random points of which the first ones are chosen",
                 "docs/search.md"},
      Range{1, 10000});
    v(&O::design_roundness,
      OptionText{"design_roundness",
                 "guided: weight of round values against distance in that choice",
                 "docs/search.md"},
      Range{0.0, 100.0});
  }
};
static_assert(kFullyDescribed<DesignOptions>);

/// The first points of a search, chosen without knowledge of their times: of a few random points,
/// the one that is far from earlier ones (maximin, Johnson, Moore and Ylvisaker 1990), has round
/// values and, once some failed, lies on the side of those that did not.
class Design {
 public:
  Design(const Lattice& lattice, const DesignOptions& options);

  /// Draws a legal point; false if none was found.
  [[nodiscard]] bool draw(const Lattice& lattice, Rng& rng, std::span<Level> point) const;
  /// Adds a point that later ones keep away from.
  void add(std::span<const Level> point);
  /// What became of a point.
  void judge(std::span<const Level> point, bool ok);
  [[nodiscard]] const std::vector<std::vector<Level>>& points() const { return points_; }

 private:
  [[nodiscard]] double score(std::span<const Level> point) const;
  /// From -1 to 1: how far `point` lies in the direction from points that were ok to those that
  /// failed, times the square of the share that failed: few failures are the model's to learn.
  [[nodiscard]] double risk(std::span<const Level> point) const;

  Features features_;
  std::vector<double> span_;  // levels - 1 by axis, at least 1
  std::vector<std::vector<Level>> points_;
  struct Group {
    double count = 0;
    std::vector<double> sum;  // of levels, by axis
  };
  Group ok_, failed_;
  int draws_;
  double roundness_;
};

}  // namespace warpath
