#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// Each group lists its members once, in `describe`; JSON, flags, help, defaults, checks and
/// equality are derived from it.
struct SearchOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;
  static const OptionGroupKind& kind();

  std::string strategy = "auto";
  std::string selection = "puct";
  std::string backup = "mean_max";
  std::string widening = "gated";
  std::string sharing = "graph";
  std::string parallel = "unobserved";
  double sigma_floor = 0.02;
  double root_noise_weight = 0.25;
  double root_noise_alpha = 0.3;
  int max_depth = 64;
  int max_actions = 256;
  int in_flight = 0;
  bool deterministic = false;
  int window = 8;
  std::string draws = "uniform";
  bool operator==(const SearchOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = SearchOptions;
    v(&O::strategy,
      OptionText{
          "strategy",
          "registered strategy, mcgs, or auto: guided where only tunables are searched, else "
          "history",
          "docs/search.md"},
      AnyValue{});
    v(&O::selection, OptionText{"selection", "registered selection policy", "Rosin 2011"},
      AnyValue{});
    v(&O::backup, OptionText{"backup", "registered backup policy", "docs/search.md"}, AnyValue{});
    v(&O::widening, OptionText{"widening", "registered widening policy", "docs/search.md"},
      AnyValue{});
    v(&O::sharing,
      OptionText{"sharing", "graph: equal variants are one node; tree: every path makes its own",
                 "docs/search.md"},
      OneOf{"graph", "tree"});
    v(&O::parallel,
      OptionText{"parallel",
                 "evaluations under way in a selection: unobserved (counted as visits), ignored",
                 "Liu et al. 2020"},
      OneOf{"unobserved", "ignored"});
    v(&O::sigma_floor,
      OptionText{"sigma_floor", "least standard deviation of rewards, as log ratio",
                 "2 % is the least gain worth having"},
      Range{1e-9, 10.0});
    v(&O::root_noise_weight,
      OptionText{"root_noise_weight", "share of Dirichlet noise in the root's priors",
                 "Silver et al. 2017"},
      Range{0.0, 1.0});
    v(&O::root_noise_alpha,
      OptionText{"root_noise_alpha", "concentration of the root's Dirichlet noise",
                 "Silver et al. 2017"},
      Range{1e-3, 1000.0});
    v(&O::max_depth,
      OptionText{"max_depth", "nodes at this depth are not expanded", "docs/search.md"},
      Range{1, 65535});
    v(&O::max_actions,
      OptionText{"max_actions", "most proposals kept at one node, best priors first", ""},
      Range{1, 65533});
    v(&O::in_flight,
      OptionText{"in_flight", "evaluations under way at once; 0: as many as the runner has lanes",
                 "", "in-flight"}
          .shaping_nothing(),
      Range{0, 4096});
    v(&O::deterministic,
      OptionText{"deterministic",
                 "apply outcomes in dispatch order: same seed and outcomes, same graph", "",
                 "deterministic"},
      AnyValue{});
    v(&O::window,
      OptionText{"window",
                 "deterministic: a selection lacks the outcomes of this many dispatches less one, "
                 "however many are under way",
                 "docs/run-folder.md"},
      Range{1, 4096});
    v(&O::draws,
      OptionText{"draws",
                 "strategies but mcgs and guided, where they draw a move: uniform, prior (nine in "
                 "ten by P(s,a)), or ordered (a node's moves in turn, by P(s,a) descending, as "
                 "mcgs tries them)",
                 "docs/search.md"},
      OneOf{"uniform", "prior", "ordered"});
  }
};
static_assert(kFullyDescribed<SearchOptions>);

}  // namespace warpath
