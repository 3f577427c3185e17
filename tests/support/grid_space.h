#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "engine/search/search.h"

namespace warpath::test {

/// Tunables and nothing else: `axes` axes of `levels` multiples of 16, of which a quarter of the
/// points is illegal. The reward falls with the distance from one point, and is rough. The root is
/// the point of zeros.
class GridSpace final : public Space, public Lattice {
 public:
  GridSpace(std::size_t axes, std::size_t levels) : axes_(axes), levels_(levels), points_(axes) {}

  [[nodiscard]] Hash128 root_key() const { return key(at(NodeId{0})); }
  [[nodiscard]] Evaluation evaluate(NodeId node) const {
    const auto point = at(node);
    double reward = 0.5 * static_cast<double>(key(point).high >> 40U) * 0x1p-24;
    for (std::size_t i = 0; i < axes_; ++i)
      reward -= 0.2 * std::abs(static_cast<int>(point[i]) - static_cast<int>(5 * i % levels_));
    return {.ok = true, .reward = reward};
  }

  void open(NodeId, std::vector<float>& priors) override { priors.clear(); }
  std::optional<Hash128> apply(NodeId, std::uint32_t) override { return std::nullopt; }
  void create(NodeId, NodeId, const Step& step, const Hash128&) override {
    points_.insert(points_.end(), step.point.begin(), step.point.end());
  }
  [[nodiscard]] const Lattice* lattice() const override { return this; }
  void levels(NodeId node, std::span<Level> out) const override {
    std::ranges::copy(at(node), out.begin());
  }
  std::optional<Hash128> jump(NodeId, std::span<const Level> point) override { return key(point); }

  [[nodiscard]] std::size_t axes() const override { return axes_; }
  [[nodiscard]] std::size_t levels(std::size_t) const override { return levels_; }
  [[nodiscard]] std::int64_t value(std::size_t, Level level) const override {
    return 16 * (std::int64_t{level} + 1);
  }
  [[nodiscard]] bool legal(std::span<const Level> point) const override {
    return key(point).low % 4 != 0 || key(point) == root_key();
  }

 private:
  [[nodiscard]] static Hash128 key(std::span<const Level> point) {
    std::uint64_t h = 0;
    for (const Level level : point) h = mix64(h + level);
    return {mix64(h), mix64(~h)};
  }
  [[nodiscard]] std::span<const Level> at(NodeId node) const {
    return std::span(points_).subspan(index(node) * axes_, axes_);
  }

  std::size_t axes_, levels_;
  std::vector<Level> points_;  // [nodes * axes]
};

}  // namespace warpath::test
