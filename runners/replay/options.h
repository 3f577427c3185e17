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
  bool operator==(const ReplayOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = ReplayOptions;
    v(&O::served,
      OptionText{"served", "mean: the recorded time; draw: one of its repeats, by the seed", ""},
      OneOf{"mean", "draw"});
    v(&O::devices, OptionText{"devices", "virtual devices", ""}, Range{1, 4096});
  }
};
static_assert(kFullyDescribed<ReplayOptions>);

}  // namespace warpath
