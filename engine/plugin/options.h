#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace warpath {

/// What is said about one option beside its type, default and range. `flag`: the command-line flag
/// without dashes (empty: only `--set group.key=value` and the configuration file). `source`: where
/// the default comes from.
struct OptionText {
  std::string_view key;
  std::string_view help;
  std::string_view source = "";
  std::string_view flag = "";
};

/// Closed range of a number.
template <class T>
struct Range {
  T low;
  T high;
  [[nodiscard]] constexpr bool holds(const T& x) const { return low <= x && x <= high; }
};
struct AnyValue {};

/// Each group lists its members once, in `describe`; JSON, flags, help, defaults, checks and
/// equality follow from that list.
struct SearchOptions {
  std::string strategy = "auto";
  std::string selection = "puct";
  std::string backup = "mean_max";
  std::string widening = "gated";
  std::string sharing = "graph";
  std::string parallel = "unobserved";
  std::string descend = "forward";
  double c_puct = 0.3;
  double c_ucb1 = 0.3;
  double beta = 0.75;
  double power_p = 4;
  double rho = 0.6;
  double widening_k = 2;
  double widening_alpha = 0.5;
  double sigma_floor = 0.02;
  int rollout_steps = 0;
  double rollout_epsilon = 0.1;
  double recombination = 0;
  double start_epsilon = 0;
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
          "docs/algorithm.md"},
      AnyValue{});
    v(&O::selection, OptionText{"selection", "registered selection policy", "Rosin 2011"},
      AnyValue{});
    v(&O::backup, OptionText{"backup", "registered backup policy", "docs/search.md"}, AnyValue{});
    v(&O::widening, OptionText{"widening", "registered widening policy", "docs/search.md"},
      AnyValue{});
    v(&O::sharing,
      OptionText{"sharing", "graph: equal variants are one node; tree: every path makes its own",
                 "docs/search.md"},
      AnyValue{});
    v(&O::parallel,
      OptionText{"parallel",
                 "evaluations under way in a selection: unobserved (counted as visits), "
                 "virtual_loss (and as bad ones), ignored",
                 "Liu et al. 2020"},
      AnyValue{});
    v(&O::descend,
      OptionText{"descend",
                 "forward: any edge to a greater depth is descended; creating: of these only the "
                 "one that made the node",
                 "docs/search.md"},
      AnyValue{});
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
    v(&O::rollout_steps,
      OptionText{"rollout_steps",
                 "moves that a new variant is followed by at once, best prior first, each "
                 "evaluated; 0: none",
                 "docs/search.md"},
      Range{0, 100});
    v(&O::rollout_epsilon,
      OptionText{"rollout_epsilon", "share of random moves in roll-outs", "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::recombination,
      OptionText{"recombination", "share of evaluations that are a child of two good variants",
                 "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::start_epsilon,
      OptionText{"start_epsilon",
                 "share of descents that begin at a random node instead of the root",
                 "docs/search.md"},
      Range{0.0, 1.0});
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
                 "", "in-flight"},
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
                 "docs/algorithm.md"},
      Range{1, 100000});
    v(&O::design_draws,
      OptionText{"design_draws", "guided: random points of which the first ones are chosen",
                 "docs/algorithm.md"},
      Range{1, 10000});
    v(&O::design_roundness,
      OptionText{"design_roundness",
                 "guided: weight of round values against distance in that choice",
                 "docs/algorithm.md"},
      Range{0.0, 100.0});
    v(&O::kappa,
      OptionText{"kappa", "guided: deviations of the forest that the bound lies below its mean",
                 "docs/algorithm.md"},
      Range{0.0, 100.0});
    v(&O::compression,
      OptionText{"compression",
                 "guided: share of what lies above the median that the forest is told",
                 "docs/algorithm.md"},
      Range{0.0, 1.0});
    v(&O::refit,
      OptionText{"refit",
                 "guided: growth of the observations after which the forest is fitted again",
                 "docs/algorithm.md"},
      Range{0.0, 10.0});
    v(&O::trees, OptionText{"trees", "guided: trees of the forest", "docs/algorithm.md"},
      Range{1, 10000});
    v(&O::frontier,
      OptionText{"frontier", "guided: best nodes whose neighbourhood is weighed",
                 "docs/algorithm.md"},
      Range{1, 100000});
    v(&O::far_neighbours,
      OptionText{"far_neighbours", "guided: random points two tunables away from each of them",
                 "docs/algorithm.md"},
      Range{0, 100000});
    v(&O::random_candidates,
      OptionText{"random_candidates", "guided: random points of the whole space among the frontier",
                 "docs/algorithm.md"},
      Range{0, 1000000});
    v(&O::draws,
      OptionText{"draws",
                 "strategies but mcgs and guided, where they draw a move: uniform, or prior (nine "
                 "in ten by P(s,a), so that priors do not set them apart from mcgs)",
                 "docs/algorithm.md"},
      AnyValue{});
    v(&O::escape, OptionText{"escape", "descent: probability of entering a worse neighbour", "KTT"},
      Range{0.0, 1.0});
    v(&O::epsilon,
      OptionText{"epsilon", "best_first: share of random variants", "docs/algorithm.md"},
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

struct RunOptions {
  std::int64_t budget_builds = 100;
  double budget_seconds = 0;
  std::int64_t patience = 0;
  std::uint64_t seed = 1;
  double min_speedup = 0.98;
  double min_gain = 0.02;
  int finalists = 3;
  int final_candidates = 0;
  std::string prior = "tactics";
  std::string without_moves = "";
  bool operator==(const RunOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = RunOptions;
    v(&O::budget_builds,
      OptionText{"budget_builds", "evaluations of one kernel, baseline excluded", "",
                 "budget-builds"},
      Range<std::int64_t>{1, 1'000'000'000});
    v(&O::budget_seconds,
      OptionText{"budget_seconds", "wall seconds of one kernel; 0: no limit", "", "budget-seconds"},
      Range{0.0, 1e9});
    v(&O::patience,
      OptionText{"patience", "stop after this many evaluations without a better one; 0: never", "",
                 "patience"},
      Range<std::int64_t>{0, 1'000'000'000});
    v(&O::seed, OptionText{"seed", "root of every random stream", "", "seed"}, AnyValue{});
    v(&O::min_speedup,
      OptionText{"min_speedup", "floor on every guard workload's baseline/candidate",
                 "per-shape floor, docs/search.md"},
      Range{0.0, 100.0});
    v(&O::min_gain,
      OptionText{"min_gain", "least gain over the baseline that counts as improved (exit code 0)",
                 "2 %: above timing noise", "min-gain"},
      Range{0.0, 100.0});
    v(&O::finalists,
      OptionText{"finalists",
                 "the best of the search that are judged and timed again at the end, for the "
                 "report; 0: none",
                 "docs/run-folder.md", "finalists"},
      Range{0, 1000});
    v(&O::final_candidates,
      OptionText{"final_candidates",
                 "so many of the best are measured again, by sequential halving, to say who the "
                 "finalists are; 0: the search says",
                 "docs/search.md", "final-candidates"},
      Range{0, 1000});
    v(&O::prior, OptionText{"prior", "registered prior over proposals", "", "prior"}, AnyValue{});
    v(&O::without_moves,
      OptionText{"without_moves",
                 "moves that rules do not propose, separated by commas: what are they worth?",
                 "docs/studies.md"},
      AnyValue{});
  }
};

/// What weighs proposals; run.prior says which prior does.
struct PriorOptions {
  std::string model = "";
  std::string tactics = "";
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

struct TuneOptions {
  int builds = 6;
  double share = 0.5;
  double reach = 0.7;
  double margin = 0.05;
  int patience = 3;
  bool operator==(const TuneOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = TuneOptions;
    v(&O::builds,
      OptionText{"builds",
                 "most evaluations that tune the parameters of one move at one site of one node; "
                 "0: no inner tuning",
                 "docs/search.md", "tune-builds"},
      Range{0, 10000});
    v(&O::share,
      OptionText{
          "share",
          "most of all evaluations that may be inner tuning, as long as the search has others",
          "docs/search.md"},
      Range{0.0, 1.0});
    v(&O::reach,
      OptionText{
          "reach",
          "moves are tuned whose first result is at most this log ratio behind the best so far",
          "a factor of 2"},
      Range{0.0, 100.0});
    v(&O::margin,
      OptionText{
          "margin",
          "log ratio behind its site's best from which a value ends the tuning in its direction",
          "above timing noise"},
      Range{0.0, 100.0});
    v(&O::patience,
      OptionText{"patience",
                 "a site is tuned no further after so many results in a row without a better one",
                 "docs/search.md"},
      Range{1, 10000});
  }
};

struct RecordOptions {
  std::string sync = "always";
  std::int64_t snapshot_every = 500;
  bool keep_variants = true;
  bool memory = true;
  std::string evaluations = "";
  std::string evaluations_mode = "replay-or-live";
  bool operator==(const RecordOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = RecordOptions;
    v(&O::sync,
      OptionText{"sync",
                 "events.jsonl reaches the disk: always (each outcome), batch (each second), never",
                 ""},
      AnyValue{});
    v(&O::snapshot_every, OptionText{"snapshot_every", "outcomes between snapshots", ""},
      Range<std::int64_t>{1, 1'000'000'000});
    v(&O::keep_variants,
      OptionText{"keep_variants", "write a folder a variant; the log alone suffices to resume", ""},
      AnyValue{});
    v(&O::memory,
      OptionText{"memory",
                 "add what the run tried to OUTDIR/memory.jsonl and tactic_graph.json when it ends",
                 "docs/priors.md"},
      AnyValue{});
    v(&O::evaluations,
      OptionText{"evaluations", "file of recorded evaluations; empty: none", "docs/llm.md",
                 "evaluations"},
      AnyValue{});
    v(&O::evaluations_mode,
      OptionText{"evaluations_mode",
                 "record, replay (nothing is evaluated; an unknown evaluation ends the run) or "
                 "replay-or-live",
                 "docs/llm.md", "evaluations-mode"},
      AnyValue{});
  }
};

struct HostOptions {
  std::string compiler = "g++";
  std::string optimization = "-O2 -march=native";
  double compile_seconds = 60;
  double launch_seconds = 10;
  std::int64_t memory_mib = 4096;
  double timing_seconds = 0.3;
  int min_samples = 5;
  int max_samples = 200;
  int threads = 0;
  int lanes = 1;
  bool operator==(const HostOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = HostOptions;
    v(&O::compiler, OptionText{"compiler", "system C++ compiler", ""}, AnyValue{});
    v(&O::optimization,
      OptionText{"optimization", "its optimisation flags, the same for baseline and candidates",
                 ""},
      AnyValue{});
    v(&O::compile_seconds, OptionText{"compile_seconds", "limit on one compile", ""},
      Range{0.1, 3600.0});
    v(&O::launch_seconds,
      OptionText{"launch_seconds", "limit on one launch; a longer one is timed_out", ""},
      Range{0.01, 3600.0});
    v(&O::memory_mib,
      OptionText{"memory_mib", "address-space limit of each compiler and worker process", ""},
      Range<std::int64_t>{512, 1 << 20});
    v(&O::timing_seconds, OptionText{"timing_seconds", "time spent sampling one workload", ""},
      Range{0.001, 600.0});
    v(&O::min_samples, OptionText{"min_samples", "least samples of one workload", ""},
      Range{1, 100000});
    v(&O::max_samples, OptionText{"max_samples", "most samples of one workload", ""},
      Range{1, 100000});
    v(&O::threads, OptionText{"threads", "CPU threads that run blocks; 0: all cores", ""},
      Range{0, 4096});
    v(&O::lanes, OptionText{"lanes", "evaluations at once; more than one disturbs the timings", ""},
      Range{1, 64});
  }
};

struct CudaOptions {
  std::string gpus = "all";
  std::string isolation = "process";
  bool no_wait = false;
  int compile_workers = 0;
  double compile_seconds = 20;
  std::int64_t compile_memory_mib = 4096;
  std::int64_t cache_mib = 4096;
  bool reuse_measurements = false;
  double launch_seconds = 5;
  double timing_ms = 20;
  int min_samples = 5;
  int max_samples = 200;
  double precision = 0.01;
  double race_margin = 0.15;
  double min_gain = 0.005;
  double confirm_gain = 0.05;
  double confirm_share = 0.3;
  int input_sets = 3;
  std::string l2 = "hot";
  std::string screening = "screening";
  std::string confirmation = "confirmation";
  std::string final = "final";
  std::int64_t profile_every = 0;
  bool operator==(const CudaOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = CudaOptions;
    v(&O::gpus,
      OptionText{"gpus", "all, none, indices (0,1), or a file of workers: one command line each",
                 "", "gpus"},
      AnyValue{});
    v(&O::isolation,
      OptionText{"isolation",
                 "process: kernels run in worker processes; none: in this one, for debugging", "",
                 "isolation"},
      AnyValue{});
    v(&O::no_wait,
      OptionText{
          "no_wait",
          "end with exit code 3 where another engine has the device, instead of waiting for it",
          "docs/cuda-runner.md", "no-wait"},
      AnyValue{});
    v(&O::compile_workers,
      OptionText{"compile_workers", "compiler processes; 0: one a core, less one for each device",
                 "docs/cuda-runner.md"},
      Range{0, 1024});
    v(&O::compile_seconds, OptionText{"compile_seconds", "limit on one compile", ""},
      Range{0.1, 3600.0});
    v(&O::compile_memory_mib,
      OptionText{"compile_memory_mib", "address-space limit of a compiler process", ""},
      Range<std::int64_t>{256, 1 << 20});
    v(&O::cache_mib,
      OptionText{"cache_mib",
                 "limit on the cache of compiled code, and on that of measurements; 0: no cache",
                 "docs/cuda-runner.md"},
      Range<std::int64_t>{0, 1 << 24});
    v(&O::reuse_measurements,
      OptionText{"reuse_measurements",
                 "screening takes what an earlier run measured of the same code, setup and devices",
                 "docs/cuda-runner.md"},
      AnyValue{});
    v(&O::launch_seconds,
      OptionText{"launch_seconds", "limit on one launch; a longer one is timed_out", ""},
      Range{0.01, 3600.0});
    v(&O::timing_ms,
      OptionText{"timing_ms", "time spent sampling one workload at screening",
                 "docs/cuda-runner.md"},
      Range{0.1, 60000.0});
    v(&O::min_samples, OptionText{"min_samples", "least samples of one workload", ""},
      Range{3, 100000});
    v(&O::max_samples, OptionText{"max_samples", "most samples of one workload", ""},
      Range{3, 100000});
    v(&O::precision,
      OptionText{"precision",
                 "sampling ends when the interval of the median is this narrow, relative",
                 "docs/cuda-runner.md"},
      Range{1e-5, 1.0});
    v(&O::race_margin,
      OptionText{"race_margin",
                 "sampling ends when a candidate is slower than the best so far by this share",
                 "docs/cuda-runner.md"},
      Range{0.0, 100.0});
    v(&O::min_gain,
      OptionText{"min_gain", "least gain over the incumbent that interleaved pairs must confirm",
                 "docs/cuda-runner.md"},
      Range{0.0, 10.0});
    v(&O::confirm_gain,
      OptionText{"confirm_gain",
                 "gain over the last confirmed one from which a search confirms a new best",
                 "docs/cuda-runner.md"},
      Range{0.0, 10.0});
    v(&O::confirm_share,
      OptionText{"confirm_share", "most of a device's time that a search spends on confirmations",
                 "docs/cuda-runner.md"},
      Range{0.0, 1.0});
    v(&O::input_sets,
      OptionText{"input_sets", "input sets of a workload that launches rotate over",
                 "docs/cuda-runner.md"},
      Range{2, 64});
    v(&O::l2,
      OptionText{"l2", "timing of workloads that declare nothing: hot or cold level-2 cache",
                 "docs/cuda-runner.md"},
      AnyValue{});
    v(&O::screening,
      OptionText{"screening",
                 "gates of every evaluation; a stage's or a phase's name stands for its gates, "
                 "-NAME leaves out",
                 "docs/gates.md"},
      AnyValue{});
    v(&O::confirmation,
      OptionText{"confirmation", "gates that a possible best must pass as well", "docs/gates.md"},
      AnyValue{});
    v(&O::final,
      OptionText{"final", "gates that what is reported must pass as well", "docs/gates.md"},
      AnyValue{});
    v(&O::profile_every,
      OptionText{"profile_every", "counters of every n-th measured variant; 0: never, 1: all", "",
                 "profile-every"},
      Range<std::int64_t>{0, 1'000'000'000});
  }
};

struct SyntheticOptions {
  int knobs = 6;
  int levels = 4;
  int ruggedness = 2;
  double spread = 0.5;
  double plateau = 0.1;
  double dip = 0.1;
  double failure = 0.05;
  double deception = 0;
  double noise = 0.01;
  double delay_ms = 0;
  int lanes = 1;
  bool operator==(const SyntheticOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = SyntheticOptions;
    v(&O::knobs, OptionText{"knobs", "tunables of the landscape", "Kauffman NK model"},
      Range{1, 64});
    v(&O::levels, OptionText{"levels", "values of each", ""}, Range{2, 64});
    v(&O::ruggedness,
      OptionText{"ruggedness", "other knobs that each knob's contribution depends on (k)",
                 "Kauffman NK model"},
      Range{0, 16});
    v(&O::spread, OptionText{"spread", "standard deviation of the log time over the landscape", ""},
      Range{0.0, 10.0});
    v(&O::plateau, OptionText{"plateau", "share of moves that change nothing", ""},
      Range{0.0, 1.0});
    v(&O::dip, OptionText{"dip", "share of points made slower than their neighbours", ""},
      Range{0.0, 1.0});
    v(&O::failure, OptionText{"failure", "share of points that fail, over all statuses but ok", ""},
      Range{0.0, 0.95});
    v(&O::deception,
      OptionText{"deception",
                 "share of the log time in traps whose slope leads away from the optimum",
                 "Deb and Goldberg 1993"},
      Range{0.0, 1.0});
    v(&O::noise, OptionText{"noise", "relative standard deviation of one timing sample", ""},
      Range{0.0, 10.0});
    v(&O::delay_ms, OptionText{"delay_ms", "pretended duration of an evaluation", ""},
      Range{0.0, 60000.0});
    v(&O::lanes, OptionText{"lanes", "evaluations at once", ""}, Range{1, 4096});
  }
};

struct ReplayOptions {
  std::string served = "mean";
  int devices = 1;
  bool operator==(const ReplayOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = ReplayOptions;
    v(&O::served,
      OptionText{"served", "mean: the recorded time; draw: one of its repeats, by the seed", ""},
      AnyValue{});
    v(&O::devices, OptionText{"devices", "virtual devices", ""}, Range{1, 4096});
  }
};

/// Foreign proposals: a language model's, a file's, a person's. Nothing here shapes what a log
/// replays: answers are in the log.
struct LlmOptions {
  std::string model = "";
  std::string base_url = "";
  std::string profile = "";
  std::string key_env = "";
  std::string key_file = "";
  std::string cassette = "";
  std::string cassette_mode = "replay-or-live";
  int in_flight = 4;
  std::int64_t calls = 200;
  std::int64_t input_tokens = 4'000'000;
  std::int64_t output_tokens = 1'000'000;
  double money = 5;
  double seconds = 0;
  bool unpriced = false;
  double share = 0.5;
  double reach = 0.7;
  int moves = 4;
  int by_hand = 2;
  int repairs = 3;
  int offered = 60;
  bool operator==(const LlmOptions&) const = default;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = LlmOptions;
    v(&O::model,
      OptionText{"model", "language model that proposes moves; empty: none", "", "llm-model"},
      AnyValue{});
    v(&O::base_url,
      OptionText{
          "base_url",
          "of its server; empty: OPENAI_BASE_URL where the profile uses it, else the profile's", "",
          "llm-base-url"},
      AnyValue{});
    v(&O::profile,
      OptionText{
          "profile",
          "name of a provider (docs/llm.md) or a JSON file that describes one; empty: openai", "",
          "llm-profile"},
      AnyValue{});
    v(&O::key_env,
      OptionText{"key_env",
                 "name of the environment variable that holds the key; empty: the profile's", "",
                 "llm-key-env"},
      AnyValue{});
    v(&O::key_file,
      OptionText{"key_file", "file (mode 600) that holds the key, where the variable is not set",
                 "", "llm-key-file"},
      AnyValue{});
    v(&O::cassette,
      OptionText{"cassette", "file of recorded calls; empty: llm.jsonl in the run folder", "",
                 "llm-cassette"},
      AnyValue{});
    v(&O::cassette_mode,
      OptionText{"cassette_mode",
                 "live, record, replay (an unknown call ends the run) or replay-or-live",
                 "docs/llm.md", "llm-cassette-mode"},
      AnyValue{});
    v(&O::in_flight, OptionText{"in_flight", "most requests at once", "", "llm-in-flight"},
      Range{1, 256});
    v(&O::calls,
      OptionText{"calls", "most requests that are sent, retries included", "", "llm-calls"},
      Range<std::int64_t>{0, 1'000'000'000});
    v(&O::input_tokens,
      OptionText{"input_tokens", "most tokens that are sent", "", "llm-input-tokens"},
      Range<std::int64_t>{0, 1'000'000'000'000});
    v(&O::output_tokens,
      OptionText{"output_tokens", "most tokens that are answered, reasoning included", "",
                 "llm-output-tokens"},
      Range<std::int64_t>{0, 1'000'000'000'000});
    v(&O::money,
      OptionText{"money", "most that may be spent, in the profile's currency", "", "llm-money"},
      Range{0.0, 1e9});
    v(&O::seconds,
      OptionText{"seconds", "wall seconds of a session after which nothing is asked; 0: no limit",
                 "", "llm-seconds"},
      Range{0.0, 1e9});
    v(&O::unpriced,
      OptionText{"unpriced",
                 "ask although the profile has no prices: the limit on money has no effect", "",
                 "llm-unpriced"},
      AnyValue{});
    v(&O::share,
      OptionText{
          "share",
          "most of all evaluations that its proposals may take, as long as the search has others",
          "docs/llm.md"},
      Range{0.0, 1.0});
    v(&O::reach,
      OptionText{"reach",
                 "nodes are asked about that are at most this log ratio behind the best so far",
                 "a factor of 2"},
      Range{0.0, 100.0});
    v(&O::moves, OptionText{"moves", "most proposals of one answer", "docs/llm.md"}, Range{1, 64});
    v(&O::by_hand,
      OptionText{"by_hand", "most of them that are written out as source", "docs/llm.md"},
      Range{0, 64});
    v(&O::repairs,
      OptionText{"repairs", "most further attempts at a source that failed, by the same move",
                 "docs/llm.md"},
      Range{0, 10});
    v(&O::offered, OptionText{"offered", "most legal moves that a prompt lists", "docs/llm.md"},
      Range{1, 1000});
  }
};

/// All groups. `--set search.c_puct=2` reaches any member; flags are shorthands.
struct Options {
  SearchOptions search;
  RunOptions run;
  PriorOptions prior;
  TuneOptions tune;
  RecordOptions record;
  HostOptions host;
  CudaOptions cuda;
  SyntheticOptions synthetic;
  ReplayOptions replay;
  LlmOptions llm;
  bool operator==(const Options&) const = default;
  template <class Visitor>
  static constexpr void describe_groups(Visitor&& v) {
    v(&Options::search, std::string_view("search"));
    v(&Options::run, std::string_view("run"));
    v(&Options::prior, std::string_view("prior"));
    v(&Options::tune, std::string_view("tune"));
    v(&Options::record, std::string_view("record"));
    v(&Options::host, std::string_view("host"));
    v(&Options::cuda, std::string_view("cuda"));
    v(&Options::synthetic, std::string_view("synthetic"));
    v(&Options::replay, std::string_view("replay"));
    v(&Options::llm, std::string_view("llm"));
  }
};

namespace options_detail {
struct AnyField {
  template <class T>
  constexpr operator T() const;  // NOLINT(google-explicit-constructor): never evaluated
};
template <class T, class... F>
[[nodiscard]] consteval std::size_t field_count() {
  if constexpr (requires { T{F{}..., AnyField{}}; }) {
    return field_count<T, F..., AnyField>();
  } else {
    return sizeof...(F);
  }
}
template <class T>
[[nodiscard]] consteval std::size_t described_count() {
  std::size_t n = 0;
  T::describe([&](const auto&...) { ++n; });
  return n;
}
}  // namespace options_detail
/// A forgotten member does not compile.
template <class T>
inline constexpr bool kFullyDescribed =
    options_detail::described_count<T>() == options_detail::field_count<T>();
static_assert(kFullyDescribed<SearchOptions>);
static_assert(kFullyDescribed<RunOptions>);
static_assert(kFullyDescribed<PriorOptions>);
static_assert(kFullyDescribed<TuneOptions>);
static_assert(kFullyDescribed<RecordOptions>);
static_assert(kFullyDescribed<HostOptions>);
static_assert(kFullyDescribed<CudaOptions>);
static_assert(kFullyDescribed<SyntheticOptions>);
static_assert(kFullyDescribed<ReplayOptions>);
static_assert(kFullyDescribed<LlmOptions>);

}  // namespace warpath
