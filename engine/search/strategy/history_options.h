#pragma once

#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// Of `history`.
struct HistoryOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;
  static const OptionGroupKind& kind();

  double history_initial = 0.9;
  double history_bonus = 1;
  double history_reach = 5;
  double history_dives = 2;
  double history_temperature = 0.05;
  double history_margin = 0.005;
  double history_relink = 0.5;
  double history_shortfall = 0.1;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = HistoryOptions;
    v(&O::history_initial,
      OptionText{"history_initial",
                 "history: moves of the root before any other node's, for each kind of move that "
                 "its priors leave beside the likeliest (1 / sum of squares - 1)",
                 "docs/search.md"},
      Range{0.0, 1000.0});
    v(&O::history_bonus,
      OptionText{"history_bonus",
                 "history: bonus of a move never tried, in mean absolute gains of a move",
                 "docs/search.md"},
      Range{0.0, 100.0});
    v(&O::history_reach,
      OptionText{"history_reach",
                 "history: moves by which variants differ so that a trial at one counts for 1/e at "
                 "the other",
                 "docs/search.md"},
      Range{0.01, 1e6});
    v(&O::history_dives,
      OptionText{"history_dives",
                 "history: evaluations of dives for one of a node that is not the best, since the "
                 "best improved; 0: no dives",
                 "docs/search.md"},
      Range{0.0, 1000.0});
    v(&O::history_temperature,
      OptionText{"history_temperature",
                 "history: temperature of dives, in mean absolute gains of a move",
                 "docs/search.md"},
      Range{0.0, 100.0});
    v(&O::history_margin,
      OptionText{"history_margin",
                 "history: logarithm of a ratio of times; what gains no more gains nothing",
                 "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::history_relink,
      OptionText{"history_relink",
                 "history: share of dives that make another step of the same kind on the way to "
                 "the best, and then the rest of it",
                 "Glover 1996"},
      Range{0.0, 1.0});
    v(&O::history_shortfall,
      OptionText{"history_shortfall",
                 "history: share of what a node is worse than the best by that its moves must "
                 "promise, or it is put off",
                 "docs/search.md"},
      Range{0.0, 1000.0});
  }
};
static_assert(kFullyDescribed<HistoryOptions>);

}  // namespace warpath
