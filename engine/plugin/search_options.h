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
  double c_puct = 0.3;
  double c_ucb1 = 0.3;
  double beta = 0.75;
  double power_p = 4;
  double rho = 0.6;
  double widening_k = 2;
  double widening_alpha = 0.5;
  double sigma_floor = 0.02;
  double root_noise_weight = 0.25;
  double root_noise_alpha = 0.3;
  int max_depth = 64;
  int max_actions = 256;
  int in_flight = 0;
  bool deterministic = false;
  int window = 8;
  int initial = 10;
  int design_draws = 10;
  double design_roundness = 0.5;
  double kappa = 1.5;
  double compression = 0.3;
  double refit = 0.1;
  int trees = 24;
  int frontier = 5;
  int far_neighbours = 12;
  int random_candidates = 100;
  std::string draws = "uniform";
  double escape = 0.02;
  double epsilon = 0.1;
  int beam_width = 4;
  int population = 20;
  double mutation = 0.1;
  double softmax = 0.3;
  double virtual_loss = 1;
  double temperature = 0.5;
  double cooling = 0.99;
  bool operator==(const SearchOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = SearchOptions;
    v(&O::strategy,
      OptionText{
          "strategy",
          "registered strategy, mcgs, or auto: guided where only tunables are searched, else mcgs",
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
                 "evaluations under way in a selection: unobserved (counted as visits), "
                 "virtual_loss (and as bad ones), ignored",
                 "Liu et al. 2020"},
      OneOf{"unobserved", "virtual_loss", "ignored"});
    v(&O::c_puct,
      OptionText{"c_puct", "exploration constant, in units of the reward's standard deviation",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 100.0});
    v(&O::c_ucb1,
      OptionText{"c_ucb1",
                 "ucb1: exploration constant, in units of the reward's standard deviation",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 100.0});
    v(&O::beta,
      OptionText{"beta", "share of the best reachable reward against the mean in Q",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 1.0});
    v(&O::power_p,
      OptionText{"power_p", "power_mean: exponent of the mean of speed-ups; 1: arithmetic",
                 "Dam et al. 2019"},
      Range{0.001, 1000.0});
    v(&O::rho,
      OptionText{"rho", "first-play reduction of the widen arm, in standard deviations",
                 "NK landscapes, docs/search.md"},
      Range{0.0, 10.0});
    v(&O::widening_k,
      OptionText{"widening_k", "gated widening: children allowed = k * visits^alpha",
                 "Coulom 2007"},
      Range{0.1, 1000.0});
    v(&O::widening_alpha,
      OptionText{"widening_alpha", "gated widening: exponent of visits", "Coulom 2007"},
      Range{0.0, 1.0});
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
    v(&O::initial,
      OptionText{"initial",
                 "guided, descent: evaluations before the first conclusion, the start included",
                 "docs/search.md"},
      Range{1, 100000});
    v(&O::design_draws,
      OptionText{"design_draws", "guided: random points of which the first ones are chosen",
                 "docs/search.md"},
      Range{1, 10000});
    v(&O::design_roundness,
      OptionText{"design_roundness",
                 "guided: weight of round values against distance in that choice",
                 "docs/search.md"},
      Range{0.0, 100.0});
    v(&O::kappa,
      OptionText{"kappa", "guided: deviations of the forest that the bound lies below its mean",
                 "docs/search.md"},
      Range{0.0, 100.0});
    v(&O::compression,
      OptionText{"compression",
                 "guided: share of what lies above the median that the forest is told",
                 "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::refit,
      OptionText{"refit",
                 "guided: growth of the observations after which the forest is fitted again",
                 "docs/search.md"},
      Range{0.0, 10.0});
    v(&O::trees, OptionText{"trees", "guided: trees of the forest", "docs/search.md"},
      Range{1, 10000});
    v(&O::frontier,
      OptionText{"frontier", "guided: best nodes whose neighbourhood is weighed", "docs/search.md"},
      Range{1, 100000});
    v(&O::far_neighbours,
      OptionText{"far_neighbours", "guided: random points two tunables away from each of them",
                 "docs/search.md"},
      Range{0, 100000});
    v(&O::random_candidates,
      OptionText{"random_candidates", "guided: random points of the whole space among the frontier",
                 "docs/search.md"},
      Range{0, 1000000});
    v(&O::draws,
      OptionText{"draws",
                 "strategies but mcgs and guided, where they draw a move: uniform, or prior (nine "
                 "in ten by P(s,a), so that priors do not set them apart from mcgs)",
                 "docs/search.md"},
      OneOf{"uniform", "prior"});
    v(&O::escape, OptionText{"escape", "descent: probability of entering a worse neighbour", "KTT"},
      Range{0.0, 1.0});
    v(&O::epsilon, OptionText{"epsilon", "best_first: share of random variants", "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::beam_width, OptionText{"beam_width", "beam: variants kept", ""}, Range{1, 100000});
    v(&O::population, OptionText{"population", "genetic, swarm: variants kept", ""},
      Range{2, 100000});
    v(&O::mutation,
      OptionText{"mutation", "genetic: share of tunables that come from neither parent", ""},
      Range{0.0, 1.0});
    v(&O::softmax,
      OptionText{"softmax", "selection softmax: temperature, in standard deviations of the rewards",
                 ""},
      Range{1e-6, 1000.0});
    v(&O::virtual_loss,
      OptionText{"virtual_loss",
                 "parallel virtual_loss: how far below its value an evaluation under way counts, "
                 "in standard deviations",
                 "Chaslot et al. 2008"},
      Range{0.0, 1000.0});
    v(&O::temperature,
      OptionText{"temperature",
                 "annealing: first temperature, in standard deviations of the rewards", ""},
      Range{0.0, 1000.0});
    v(&O::cooling, OptionText{"cooling", "annealing: factor of the temperature an evaluation", ""},
      Range{0.0, 1.0});
  }
};
static_assert(kFullyDescribed<SearchOptions>);

}  // namespace warpath
