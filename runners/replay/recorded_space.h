#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runners/replay/recording.h"

namespace warpath {

/// A tuning space whose points were all measured before: axes, and a row for each point that
/// exists. docs/recorded-spaces.md describes the formats read and the one written.
class RecordedSpace final : public Recording, public Lattice {
 public:
  struct Axis {
    std::string name;
    std::vector<std::string> texts;    ///< of the values, ascending
    std::vector<std::int64_t> values;  ///< the same as integers; ranks if they are not integers
  };
  RecordedSpace(std::string name,
                std::string device,
                std::vector<Axis> axes,
                std::vector<Row> rows,
                std::string_view place);

  [[nodiscard]] std::size_t axes() const override { return axes_.size(); }
  [[nodiscard]] std::size_t levels(std::size_t axis) const override {
    return axes_[axis].values.size();
  }
  [[nodiscard]] std::int64_t value(std::size_t axis, Level level) const override {
    return axes_[axis].values[level];
  }
  [[nodiscard]] bool legal(std::span<const Level> point) const override {
    return find(point) != kNone;
  }
  [[nodiscard]] bool draw(Rng& rng, std::span<Level> point) const override;

  [[nodiscard]] const Axis& axis(std::size_t i) const { return axes_[i]; }
  /// Index in rows(); kNone: not recorded.
  [[nodiscard]] std::uint32_t find(std::span<const Level> point) const;
  /// Index of the point in mixed radix, the first axis most significant.
  [[nodiscard]] std::uint64_t number(std::span<const Level> point) const;

  [[nodiscard]] std::uint32_t first_row(const Options& options,
                                        std::uint64_t seed,
                                        std::uint64_t attempt) const override;
  [[nodiscard]] std::unique_ptr<Walk> walk(std::uint32_t first, const Steps& steps) const override;
  /// Rows that differ in one axis.
  void neighbours(std::uint32_t row, std::vector<std::uint32_t>& out) const override;

 private:
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> strides_;
  // by number(), if there are few points
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;  // otherwise
};

}  // namespace warpath
