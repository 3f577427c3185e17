#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/search/search.h"
#include "runners/replay/recorded_space.h"

namespace warpath {

/// A recorded space as a search space, without text or files: an action sets one axis to another of
/// its levels, a jump sets all axes. Not thread-safe; several may share a recorded space.
class PointSpace final : public Recording::Walk {
 public:
  /// `space` must outlive this. `start` is the root's point.
  PointSpace(const RecordedSpace& space, std::span<const Level> start);

  [[nodiscard]] std::uint32_t row(NodeId node) const override { return space_->find(at(node)); }

  [[nodiscard]] const Recording::Row& found(NodeId node) const override {
    return space_->rows()[row(node)];
  }

  void open(NodeId node, std::vector<float>& priors) override;
  std::optional<Hash128> apply(NodeId node, std::uint32_t action) override;
  void create(NodeId child, NodeId parent, const Step& step, const Hash128& key) override;
  [[nodiscard]] const Lattice* lattice() const override { return space_; }
  void levels(NodeId node, std::span<Level> out) const override;
  std::optional<Hash128> jump(NodeId node, std::span<const Level> point) override;

  [[nodiscard]] std::uint32_t size() const override {
    return static_cast<std::uint32_t>(parents_.size());
  }
  [[nodiscard]] Hash128 key(NodeId node) const override { return key(at(node)); }
  /// Tunables only; there is no text.
  [[nodiscard]] Variant variant(NodeId node) const override;
  [[nodiscard]] NodeId parent(NodeId node) const override { return parents_[index(node)]; }
  [[nodiscard]] MoveInstance instance(NodeId node) const override;
  [[nodiscard]] std::string_view move(NodeId) const override { return kSetTunable; }
  [[nodiscard]] std::string_view source(NodeId) const override { return "rules"; }
  /// Its only move is not structural.
  [[nodiscard]] bool structural(NodeId) const override { return false; }
  [[nodiscard]] std::vector<Tunable> domain(NodeId, const MoveInstance&) const override {
    return {};
  }
  [[nodiscard]] std::optional<Dispatch> graft(Search& search,
                                              NodeId parent,
                                              const Proposal& proposal,
                                              const std::function<float()>& prior) override;
  [[nodiscard]] float largest_prior(NodeId) override {
    return actions_ > 0 ? 1.0F / static_cast<float>(actions_) : 0;
  }

 private:
  [[nodiscard]] std::span<const Level> at(NodeId node) const {
    return std::span(points_).subspan(index(node) * point_.size(), point_.size());
  }
  [[nodiscard]] Hash128 key(std::span<const Level> point) const;
  /// Sets `point_` to the point that `action` leads to.
  void place(NodeId node, std::uint32_t action);

  const RecordedSpace* space_;
  std::uint32_t actions_ = 0;
  std::vector<Level> point_;   // [axes] scratch
  std::vector<Level> points_;  // [nodes * axes]
  std::vector<NodeId> parents_{kNoNode};
};

}  // namespace warpath
