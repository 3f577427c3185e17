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

/// A tuning space whose every point was measured before: axes, and a row a point that exists.
/// docs/recorded-spaces.md has the formats that it is read from and the one that it is written in.
class RecordedSpace final : public Recording, public Lattice {
 public:
  struct Axis {
    std::string name;
    std::vector<std::string> texts;    ///< of the values, ascending
    std::vector<std::int64_t> values;  ///< the same as integers; ranks where they are none
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
  /// Index in rows(); kNone: unrecorded.
  [[nodiscard]] std::uint32_t find(std::span<const Level> point) const;
  /// Mixed radix, the first axis slowest.
  [[nodiscard]] std::uint64_t number(std::span<const Level> point) const;

  [[nodiscard]] std::uint32_t first_row(const SearchOptions& options,
                                        std::uint64_t seed,
                                        std::uint64_t attempt) const override;
  [[nodiscard]] std::unique_ptr<Walk> walk(std::uint32_t first, const Steps& steps) const override;
  /// Those that differ in one axis.
  void neighbours(std::uint32_t row, std::vector<std::uint32_t>& out) const override;

 private:
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> strides_;
  // by number, where there are few points
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;  // else
};

/// Reads a Kernel Tuner cache, T4 results, KTT results or a space of our own, gzipped or not: told
/// apart by their content. Axes of a single value are left out. Throws Error(bad_input) naming file
/// and key.
[[nodiscard]] RecordedSpace load_space(const std::filesystem::path& file);
/// load_space() of text already in memory; `name` names the space, `place` the file in messages.
[[nodiscard]] RecordedSpace parse_space(const std::string& text,
                                        const std::string& name,
                                        const std::string& place);

/// Our own format as JSON text.
[[nodiscard]] std::string space_text(const RecordedSpace& space);
/// Writes it gzipped, whole or not at all.
void save_space(const RecordedSpace& space, const std::filesystem::path& file);

}  // namespace warpath
