#include "runners/replay/point_space.h"

#include <algorithm>

#include "engine/base/error.h"

namespace warpath {

PointSpace::PointSpace(const RecordedSpace& space, std::span<const Level> start)
    : space_(&space), last_(space.axes()), points_(start.begin(), start.end()) {
  WARPATH_CHECK(start.size() == space.axes());
  for (std::size_t i = 0; i < space.axes(); ++i)
    actions_ += static_cast<std::uint32_t>(space.levels(i) - 1);
}

Hash128 PointSpace::key(std::span<const Level> point) const {
  const std::uint64_t n = space_->number(point);
  return {mix64(n), mix64(~n)};
}

void PointSpace::open(NodeId, std::vector<float>& priors) {
  priors.assign(actions_, actions_ > 0 ? 1.0F / static_cast<float>(actions_) : 0.0F);
}

std::optional<Hash128> PointSpace::apply(NodeId node, std::uint32_t action) {
  std::ranges::copy(at(node), last_.begin());
  for (std::size_t axis = 0;; ++axis) {
    const auto others = static_cast<std::uint32_t>(space_->levels(axis) - 1);
    if (action >= others) {
      action -= others;
      continue;
    }
    last_[axis] = static_cast<Level>(action + (action >= last_[axis] ? 1 : 0));
    break;
  }
  return space_->legal(last_) ? std::optional(key(last_)) : std::nullopt;
}

std::optional<Hash128> PointSpace::jump(NodeId, std::span<const Level> point) {
  std::ranges::copy(point, last_.begin());
  return key(last_);
}

void PointSpace::adopt(NodeId child, NodeId, std::uint32_t) {
  WARPATH_CHECK(index(child) * last_.size() == points_.size());
  points_.insert(points_.end(), last_.begin(), last_.end());
}

void PointSpace::levels(NodeId node, std::span<Level> out) const {
  std::ranges::copy(at(node), out.begin());
}

}  // namespace warpath
