#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/search/lattice.h"

namespace warpath {

/// What a model sees of a point, three numbers an axis: [levels | trailing zero bits of the values
/// | log2 of the values]. Vector widths, warps and memory banks make the speed of a kernel depend
/// on what power of two divides a size, not on the size alone.
class Features {
 public:
  explicit Features(const Lattice& lattice);

  [[nodiscard]] std::size_t axes() const { return axes_.size(); }
  [[nodiscard]] std::size_t count() const { return 3 * axes_.size(); }
  /// out: [count()].
  void of(std::span<const Level> point, std::span<float> out) const;
  /// True if divisibility says something about `axis` that the order of its values does not.
  [[nodiscard]] bool divisible(std::size_t axis) const { return axes_[axis].divisible; }
  /// Mean over the divisible axes of the trailing zero bits, 1 for the axis's most; 0 if there is
  /// none.
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
