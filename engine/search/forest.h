#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/rng.h"
#include "engine/search/point_features.h"

namespace warpath {

/// Regression by extremely randomised trees (Geurts, Ernst and Wehenkel 2006) over Features: a
/// split is the best of a few random ones, on a level, on divisibility, or on the sum or difference
/// of two logs (a product or ratio of two values). Leaves are single observations, so the forest
/// interpolates, and its trees disagree where there is little data.
class Forest {
 public:
  struct Settings {
    int trees = 24;
    double divisibility = 0.3;  ///< share of splits on trailing zeros
    double pairs = 0.1;         ///< share of splits on two values at once
  };
  /// `features` must outlive the forest.
  Forest(const Features& features, const Settings& settings)
      : features_(&features), settings_(settings) {}

  /// rows: [targets.size() * features.count()], row-major; at least one row.
  void fit(std::span<const float> rows, std::span<const float> targets, Rng& rng);

  struct Prediction {
    float mean = 0;
    float deviation = 0;  ///< over the trees
  };
  /// rows: [out.size() * features.count()], row-major. Requires fit().
  void predict(std::span<const float> rows, std::span<Prediction> out) const;

 private:
  class Growth;
  struct Split {
    std::int16_t first = -1;  // feature; -1: a leaf
    std::int16_t second = 0;  // another log feature; unused if `sign` is 0
    float sign = 0;           // of the second; 0: none
    float threshold = 0;      // upper bound for the left branch, the next node; leaf: its value
    std::uint32_t right = 0;
  };

  const Features* features_;
  Settings settings_;
  std::vector<Split> nodes_;          // all trees, each in preorder
  std::vector<std::uint32_t> roots_;  // by tree
};

}  // namespace warpath
