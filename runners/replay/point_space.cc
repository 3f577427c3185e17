#include "runners/replay/point_space.h"

#include <algorithm>

#include "engine/base/error.h"

namespace warpath {

PointSpace::PointSpace(const RecordedSpace& space, std::span<const Level> start)
    : space_(&space), point_(space.axes()), points_(start.begin(), start.end()) {
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

void PointSpace::place(NodeId node, std::uint32_t action) {
  std::ranges::copy(at(node), point_.begin());
  for (std::size_t axis = 0;; ++axis) {
    const auto others = static_cast<std::uint32_t>(space_->levels(axis) - 1);
    if (action >= others) {
      action -= others;
      continue;
    }
    point_[axis] = static_cast<Level>(action + (action >= point_[axis] ? 1 : 0));
    return;
  }
}

std::optional<Hash128> PointSpace::apply(NodeId node, std::uint32_t action) {
  place(node, action);
  return space_->legal(point_) ? std::optional(key(point_)) : std::nullopt;
}

std::optional<Hash128> PointSpace::jump(NodeId, std::span<const Level> point) {
  return key(point);
}

void PointSpace::create(NodeId child, NodeId parent, const Step& step, const Hash128&) {
  WARPATH_CHECK(index(child) * point_.size() == points_.size());
  std::span<const Level> point = step.point;
  if (step.action != kJump) place(parent, step.action), point = point_;
  points_.insert(points_.end(), point.begin(), point.end());
  parents_.push_back(parent);
}

Variant PointSpace::variant(NodeId node) const {
  Variant out;
  for (std::size_t i = 0; i < space_->axes(); ++i)
    out.tunables[space_->axis(i).name] = space_->value(i, at(node)[i]);
  return out;
}

MoveInstance PointSpace::instance(NodeId node) const {
  MoveInstance out;
  if (parent(node) == kNoNode) return out;
  out.move = move(node);
  for (std::size_t i = 0; i < space_->axes(); ++i) {
    if (at(node)[i] != at(parent(node))[i])
      out.parameters[space_->axis(i).name] = space_->value(i, at(node)[i]);
  }
  return out;
}

std::optional<Dispatch> PointSpace::graft(Search& search,
                                          NodeId parent,
                                          const Proposal& proposal,
                                          const std::function<float()>& prior) {
  std::vector<Level> point(at(parent).begin(), at(parent).end());
  for (std::size_t i = 0; i < space_->axes(); ++i) {
    const auto wanted = proposal.instance.parameters.find(space_->axis(i).name);
    if (wanted == proposal.instance.parameters.end()) continue;
    const std::vector<std::int64_t>& values = space_->axis(i).values;
    const auto level = std::ranges::lower_bound(values, wanted->second);
    if (level == values.end() || *level != wanted->second) return std::nullopt;
    point[i] = static_cast<Level>(level - values.begin());
  }
  if (std::ranges::equal(point, at(parent)) || !space_->legal(point)) return std::nullopt;
  const std::optional<Dispatch> dispatch = search.graft(parent, key(point), prior());
  if (dispatch) create(dispatch->node, parent, {.action = kJump, .point = point}, {});
  return dispatch;
}

void PointSpace::levels(NodeId node, std::span<Level> out) const {
  std::ranges::copy(at(node), out.begin());
}

}  // namespace warpath
