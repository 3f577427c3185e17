#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/rng.h"

namespace warpath {

/// Rank of a value among the values of its axis, ascending.
using Level = std::uint16_t;

/// The tunables of a space as axes of ordered values: any legal point can be reached from any other
/// in one step.
class Lattice {
 public:
  virtual ~Lattice() = default;
  [[nodiscard]] virtual std::size_t axes() const = 0;
  /// Values of an axis, >= 1.
  [[nodiscard]] virtual std::size_t levels(std::size_t axis) const = 0;
  /// What a level stands for: the tunable's value, or its rank where the values are no integers.
  [[nodiscard]] virtual std::int64_t value(std::size_t axis, Level level) const = 0;
  /// False: known without an evaluation that there is nothing at `point` ([axes]).
  [[nodiscard]] virtual bool legal(std::span<const Level> point) const = 0;
  /// True if every variant of the space is a point: no move but those of tunables leads anywhere.
  [[nodiscard]] virtual bool complete() const { return true; }
  /// A uniformly random legal point; false if none was found. Here: by rejection.
  [[nodiscard]] virtual bool draw(Rng& rng, std::span<Level> point) const;
};

/// Sets one axis of `point` to another level, uniformly; an axis of one level stays.
void redraw_axis(const Lattice& lattice, Rng& rng, std::size_t axis, std::span<Level> point);

}  // namespace warpath
