#include <algorithm>
#include <vector>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

struct BeamOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  int beam_width = 4;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = BeamOptions;
    v(&O::beam_width, OptionText{"beam_width", "beam: variants kept", ""}, Range{1, 100000});
  }
};
static_assert(kFullyDescribed<BeamOptions>);

/// Beam search: neighbours of the `beam_width` best, a round at a time; the best of beam and round
/// are the next beam. A round that changes nothing begins anew from random variants.
class Beam final : public Strategy {
 public:
  explicit Beam(const Options& options)
      : width_(static_cast<std::size_t>(options.of<BeamOptions>().beam_width)) {}

  NodeId next(Field& field) override {
    if (asked_ >= width_ * kBranches) close_round(field);
    ++asked_;
    if (beam_.size() < width_) return field.fresh_draw();
    const NodeId from = beam_[asked_ % beam_.size()];
    const NodeId near = field.fresh([&] { return field.neighbour(from, 1); });
    if (near != kNoNode) return near;
    stuck_ = true;
    return field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    if (!field.measured(node)) return;
    if (beam_.size() < width_) {
      beam_.push_back(node);
      if (beam_.size() == width_) asked_ = 0;
    } else {
      round_.push_back(node);
    }
  }

  void keep(StrategyState& state, Field&) override { state(beam_, round_, asked_, stuck_); }

 private:
  static constexpr std::size_t kBranches = 6;

  void close_round(Field& field) {
    asked_ = 0;
    std::vector<NodeId> all = beam_;
    all.insert(all.end(), round_.begin(), round_.end());
    round_.clear();
    std::stable_sort(all.begin(), all.end(),
                     [&](NodeId a, NodeId b) { return field.worth(a) > field.worth(b); });
    all.resize(std::min(all.size(), width_));
    const bool same = std::is_permutation(all.begin(), all.end(), beam_.begin(), beam_.end());
    beam_ = std::move(all);
    if (same && stuck_) beam_.clear();
    stuck_ = false;
  }

  std::size_t width_;
  std::vector<NodeId> beam_{NodeId{0}};
  std::vector<NodeId> round_;
  std::size_t asked_ = 0;
  bool stuck_ = false;
};

}  // namespace

void register_strategy_beam(StrategyRegistry& registry) {
  registry.add("beam", "beam search with restarts",
               [](const Options& options) { return std::make_unique<Beam>(options); },
               {&option_group_kind<BeamOptions>()});
}

}  // namespace warpath
