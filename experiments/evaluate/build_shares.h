#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/session.h"
#include "engine/run/session_result.h"

namespace warpath {

/// Shares builds among the kernels of a batch: a slice each first, then always one to the kernel
/// with the most left, weight times the share of its baseline's time that it may still lose. Where
/// lower time bounds are known that is what its best time has above the largest; otherwise what its
/// last slice gained, at least a hundredth of its best time. It counts less with every slice in a
/// row that gained nothing, so that a bound that no kernel reaches does not take all. Decides by
/// results alone: equal results, equal shares.
class BuildShares {
 public:
  struct Kernel {
    std::string name;
    double weight = 1;
    std::int64_t builds = 0;
    int slices = 0, idle = 0;  ///< idle: that gained nothing, in a row
    double best = 1;           ///< time over the baseline's
    double distance = 1;       ///< that it may still lose, of the baseline's time
    bool bound_is_known = false;
    bool ended = false;  ///< it failed, or stopped before its slice was spent
    [[nodiscard]] double left() const { return weight * distance / (1 + idle); }
  };

  /// `total` and `slice`: builds, at least 1.
  BuildShares(std::vector<Kernel> kernels, std::int64_t total, std::int64_t slice);

  /// Whose turn it is; nullopt: all is spent, or every kernel has ended.
  [[nodiscard]] std::optional<std::size_t> next() const;
  /// Builds that it may have at the end of its turn, with those before.
  [[nodiscard]] std::int64_t budget(std::size_t kernel) const;
  /// What a turn led to; null: its search failed.
  void take(std::size_t kernel, const SessionResult* result);

  [[nodiscard]] const std::vector<Kernel>& kernels() const { return kernels_; }

 private:
  std::vector<Kernel> kernels_;
  std::vector<std::int64_t> asked_;  ///< budget of the last turn
  std::int64_t total_, slice_;
};

/// A line a kernel: weight, builds, slices, what is left and how that is known.
[[nodiscard]] std::string shares_table(const BuildShares& shares);

/// "NAME=WEIGHT" by name; throws Error(bad_input) unless it is a name of `names` and a number above
/// 0.
[[nodiscard]] std::vector<BuildShares::Kernel> weighted_kernels(
    const std::vector<std::string>& names, const std::vector<std::string>& weights);

}  // namespace warpath
