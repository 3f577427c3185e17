#pragma once

#include <string>
#include <string_view>

#include "engine/plugin/option_group.h"

namespace warpath {

/// How proposals are weighted; run.prior selects the prior.
struct PriorOptions {
  static constexpr std::string_view kGroup = "prior";
  static constexpr OptionsOf kOf = OptionsOf::search;
  static const OptionGroupKind& kind();

  std::string model = "";
  std::string tactics = "";
  std::string draft_model = "";
  int drafts = 16;
  double draft_weight = 2;
  double draft_gain = 0.05;
  std::string sources = "uniform,proposer,rules,tactics,learned,foreign";
  double floor = 0.1;
  double min_pred_gain = 0;
  double rate = 1;
  double share = 0.01;
  double half_life = 64;
  bool operator==(const PriorOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = PriorOptions;
    v(&O::model,
      OptionText{"model", "learned, mix: file that `warpath train` wrote; empty: none",
                 "docs/priors.md", "prior-model"},
      AnyValue{});
    v(&O::tactics,
      OptionText{"tactics",
                 "tactics, mix: tactic graph to begin with; empty: none, auto: "
                 "OUTDIR/tactic_graph.json if it is there",
                 "docs/priors.md", "tactic-graph"},
      AnyValue{});
    v(&O::draft_model,
      OptionText{"draft_model",
                 "drafted: file that `warpath train --drafts` wrote; empty: the program's own",
                 "docs/priors.md", "draft-model"},
      AnyValue{});
    v(&O::drafts,
      OptionText{"drafts", "drafted: proposals of a node that are compiled before any is chosen",
                 "docs/priors.md"},
      Range{0, 100000});
    v(&O::draft_weight,
      OptionText{
          "draft_weight",
          "drafted: a proposal of one more in expected log gain has e^draft_weight times the "
          "weight",
          "docs/priors.md"},
      Range{0.0, 100.0});
    v(&O::draft_gain,
      OptionText{"draft_gain",
                 "drafted: log gain over the best before it that makes a node's proposals worth "
                 "compiling",
                 "docs/priors.md"},
      Range{0.0, 100.0});
    v(&O::sources,
      OptionText{"sources", "mix: the priors that are mixed, separated by commas",
                 "docs/priors.md"},
      AnyValue{});
    v(&O::floor,
      OptionText{
          "floor",
          "tactics, learned, mix: share of the prior that is spread evenly over the legal moves",
          "docs/priors.md"},
      Range{0.0, 1.0});
    v(&O::min_pred_gain,
      OptionText{
          "min_pred_gain",
          "tactics, learned, mix: moves with less predicted gain keep the floor alone; 0: none",
          "docs/priors.md", "min-pred-gain"},
      Range{0.0, 100.0});
    v(&O::rate,
      OptionText{"rate", "mix: how fast a source's log loss moves its weight; 0: equal weights",
                 "docs/priors.md"},
      Range{0.0, 100.0});
    v(&O::share,
      OptionText{"share",
                 "mix: share of the weights that is spread over the sources at each outcome, so "
                 "that none is lost",
                 "Herbster and Warmuth 1998"},
      Range{0.0, 1.0});
    v(&O::half_life,
      OptionText{"half_life",
                 "tactics: outcomes in a context after which a failed move counts half",
                 "docs/priors.md"},
      Range{1.0, 1e9});
  }
};
static_assert(kFullyDescribed<PriorOptions>);

}  // namespace warpath
