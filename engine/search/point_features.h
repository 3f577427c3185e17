#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/search/lattice.h"

namespace warpath {

/// Model features of a point, three per axis: [levels | trailing zero bits of the values | log2 of
/// the values]. Vector widths, warps and memory banks make a kernel's speed depend on the power of
/// two that divides a size, not only on the size.
class Features {
 public:
  explicit Features(const Lattice& lattice);

  [[nodiscard]] std::size_t axes() const { return axes_.size(); }
  [[nodiscard]] std::size_t count() const { return 3 * axes_.size(); }
  /// out: [count()].
  void of(std::span<const Level> point, std::span<float> out) const;
  /// True if divisibility adds information about `axis` beyond the order of its values.
  [[nodiscard]] bool divisible(std::size_t axis) const { return axes_[axis].divisible; }
  /// Mean over the divisible axes of the trailing zero bits, relative to the axis's maximum; 0 if
  /// there are none.
  [[nodiscard]] double roundness(std::span<const Level> point) const;

 private:
  struct Axis {
    std::vector<float> zeros, log2;  // by level
    float most_zeros = 0;
    bool divisible = false;
  };
  std::vector<Axis> axes_;
};

}  // namespace warpath
