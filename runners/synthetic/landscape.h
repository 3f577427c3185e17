#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "runners/synthetic/options.h"

namespace warpath {

/// A seeded search space in which every point is known without running anything: `knobs` tunables
/// of `levels` values each, and a time for each setting. The default (all zero) always runs.
///
/// ln time = spread * ((1 - deception) * NK(x) + deception * trap(x)) + dip, in units of the mean
/// time of 1 ms:
///
///   NK       S. Kauffman and E. Weinberger 1989: mean over the knobs of a standard normal value
///   drawn
///            for the knob's own level and those of `ruggedness` other knobs, times sqrt(knobs):
///            deviation 1 whatever the size.
///   trap     K. Deb and D. Goldberg 1993: knobs in groups of three; all at the top level is best,
///            otherwise the lower the better.
///   plateau  share of (knob, level > 0) whose level counts as the one below: the step between them
///            changes nothing.
///   dip      share of points made slower by one `spread` (never the default).
///   failure  share of points that fail, evenly over the statuses except ok (never the default).
class Landscape {
 public:
  using Point = std::vector<int>;  ///< level of each knob, in [0, levels)

  /// `options` must be within their declared ranges. A pure function of both arguments.
  Landscape(const SyntheticOptions& options, std::uint64_t seed);

  [[nodiscard]] int knobs() const { return options_.knobs; }
  [[nodiscard]] int levels() const { return options_.levels; }
  /// Status::ok, or why the point fails.
  [[nodiscard]] Status status(const Point& point) const;
  /// Without noise, whatever the status.
  [[nodiscard]] double log_time(const Point& point) const;
  [[nodiscard]] double time_ns(const Point& point) const;

  struct Best {
    Point point;
    double log_time = 0;
  };
  /// The fastest ok point by exhaustive search; ties go to the first in counting order. nullopt
  /// beyond `kMaxPoints` points.
  [[nodiscard]] std::optional<Best> optimum() const;
  static constexpr std::uint64_t kMaxPoints = 20'000'000;

 private:
  [[nodiscard]] std::uint64_t hash(std::string_view purpose, const Point& point) const;
  [[nodiscard]] double trap(const Point& point) const;
  [[nodiscard]] bool is_default(const Point& point) const;

  SyntheticOptions options_;
  std::uint64_t seed_;
  std::vector<std::vector<int>> neighbours_;  // of each knob, ascending, without itself
  std::vector<std::vector<int>> counts_as_;   // [knob][level]
};

/// `options` with the changes of a preset, one of `kPresets`; empty: unchanged. Throws
/// Error(bad_input) with `place`.
[[nodiscard]] SyntheticOptions with_preset(SyntheticOptions options,
                                           std::string_view preset,
                                           std::string_view place);

struct Preset {
  std::string_view name;
  std::string_view help;
};
inline constexpr Preset kPresets[] = {
    {"smooth", "every knob counts for itself; no plateaus, dips or failures"},
    {"rugged", "each knob's effect depends on four others"},
    {"deceptive", "most of the time is in traps whose slope leads away from the optimum"},
    {"plateau", "half of all steps change nothing"},
    {"cyclic", "ten knobs of two levels: every move undoes another, short cycles everywhere"},
    {"failing", "four points in ten fail, over all statuses"},
};

}  // namespace warpath
