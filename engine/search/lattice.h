#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/rng.h"

namespace warpath {

/// Rank of a value among the values of its axis, ascending.
using Level = std::uint16_t;

/// The tunables of a space as axes of ordered values. Any legal point can be reached from any other
/// in one step.
class Lattice {
 public:
  virtual ~Lattice() = default;
  [[nodiscard]] virtual std::size_t axes() const = 0;
  /// Number of values of an axis, >= 1.
  [[nodiscard]] virtual std::size_t levels(std::size_t axis) const = 0;
  /// The tunable's value at `level`, or its rank if the values are not integers.
  [[nodiscard]] virtual std::int64_t value(std::size_t axis, Level level) const = 0;
  /// False: `point` ([axes]) is known, without an evaluation, not to exist.
  [[nodiscard]] virtual bool legal(std::span<const Level> point) const = 0;
  /// True if every variant of the space is a point: only moves of tunables lead to others.
  [[nodiscard]] virtual bool complete() const { return true; }
  /// Draws a legal point uniformly, by rejection in this implementation; false if none was found.
  [[nodiscard]] virtual bool draw(Rng& rng, std::span<Level> point) const;
};

/// Sets one axis of `point` to a different level, uniformly; an axis with a single level is
/// unchanged.
void redraw_axis(const Lattice& lattice, Rng& rng, std::size_t axis, std::span<Level> point);

}  // namespace warpath
