#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/rng.h"
#include "engine/search/search.h"

namespace warpath::test {

/// The toy that search engines are compared on: `knobs` knobs with values 0..levels-1, a move adds
/// 1 to one of them, at most `deepest` moves in all. Reward = 0.5 * mean of a hash of each knob's
/// value + 0.5 * hash of the whole vector, both in [0, 1) by splitmix64; the root counts as 0.
/// Equal priors. With 8 knobs, 4 levels and 12 moves: 36 814 nodes as a graph, 4.8e10 as a tree.
/// knobs <= 32, levels <= 4: a vector is one word, two bits a knob. With `offered` < 64 a vector
/// has each of its moves with a chance of offered / 64, drawn by a hash of both: fewer orders of
/// the same moves are ways, so fewer edges lead to a node.
class LatticeSpace final : public Space {
 public:
  LatticeSpace(int knobs, int levels, int deepest, int offered = 64)
      : knobs_(knobs), levels_(levels), deepest_(deepest), offered_(offered), points_{0} {}

  [[nodiscard]] static Hash128 root_key() { return key(0); }
  [[nodiscard]] Evaluation evaluate(NodeId node) const {
    const std::uint64_t point = points_[index(node)];
    double sum = 0;
    for (int k = 0; k < knobs_; ++k)
      sum += unit(mix64(static_cast<std::uint64_t>(k) * 64 + value(point, k)));
    return {.ok = true, .reward = 0.5 * sum / knobs_ + 0.5 * unit(mix64(~point))};
  }

  void open(NodeId node, std::vector<float>& priors) override {
    const auto ways = moves(points_[index(node)]);
    priors.assign(ways, ways > 0 ? 1.0F / static_cast<float>(ways) : 0);
  }
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override {
    return key(moved(points_[index(node)], action));
  }
  void create(NodeId child, NodeId parent, const Step& step, const Hash128&) override {
    if (index(child) >= points_.size()) points_.resize(index(child) + std::size_t{1});
    points_[index(child)] = moved(points_[index(parent)], step.action);
  }

 private:
  [[nodiscard]] static Hash128 key(std::uint64_t point) { return {mix64(point), mix64(~point)}; }
  [[nodiscard]] static double unit(std::uint64_t bits) {
    return static_cast<double>(bits >> 11U) * 0x1p-53;
  }
  [[nodiscard]] static std::uint64_t value(std::uint64_t point, int knob) {
    return point >> (2 * knob) & 3U;
  }

  [[nodiscard]] bool movable(std::uint64_t point, int knob) const {
    if (static_cast<int>(value(point, knob)) + 1 >= levels_) return false;
    return offered_ == 64 ||
           static_cast<int>(mix64(point ^ mix64(static_cast<std::uint64_t>(knob))) >> 58U) <
               offered_;
  }
  [[nodiscard]] std::size_t moves(std::uint64_t point) const {
    std::size_t ways = 0;
    int made = 0;
    for (int k = 0; k < knobs_; ++k) {
      made += static_cast<int>(value(point, k));
      ways += movable(point, k) ? 1U : 0U;
    }
    return made < deepest_ ? ways : 0;
  }
  /// The action-th movable knob goes up.
  [[nodiscard]] std::uint64_t moved(std::uint64_t point, std::uint32_t action) const {
    for (int k = 0; k < knobs_; ++k) {
      if (movable(point, k) && action-- == 0) return point + (std::uint64_t{1} << (2 * k));
    }
    return point;
  }

  int knobs_, levels_, deepest_, offered_;
  std::vector<std::uint64_t> points_;  // by NodeId
};

}  // namespace warpath::test
