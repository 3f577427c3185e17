#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

struct ReplayOptions {
  static constexpr std::string_view kGroup = "replay";
  static constexpr OptionsOf kOf = OptionsOf::runner;
  static const OptionGroupKind& kind();

  std::string served = "mean";
  int devices = 1;
  std::string late_moves;
  double late_seconds = 10;
  double late_share = 0.5;
  bool operator==(const ReplayOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = ReplayOptions;
    v(&O::served,
      OptionText{"served", "mean: the recorded time; draw: one of its repeats, by the seed", ""},
      OneOf{"mean", "draw"});
    v(&O::devices, OptionText{"devices", "virtual devices", ""}, Range{1, 4096});
    v(&O::late_moves,
      OptionText{"late_moves",
                 "studies of graphs: moves that a late proposer suggests, separated by commas", ""},
      AnyValue{});
    v(&O::late_seconds,
      OptionText{"late_seconds", "of the virtual clock from a node's opening to its late moves",
                 ""},
      Range{0.0, 1e6});
    v(&O::late_share,
      OptionText{"late_share", "most of all evaluations that late moves take; 1: they go first",
                 ""},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<ReplayOptions>);

}  // namespace warpath
