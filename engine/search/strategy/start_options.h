#pragma once

#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// Options of the strategies that begin with random draws.
struct StartOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  int initial = 10;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = StartOptions;
    v(&O::initial,
      OptionText{"initial",
                 "guided, descent, mcgs over tunables: evaluations before the first conclusion, "
                 "the start included",
                 "docs/search.md"},
      Range{1, 100000});
  }
};
static_assert(kFullyDescribed<StartOptions>);

}  // namespace warpath
