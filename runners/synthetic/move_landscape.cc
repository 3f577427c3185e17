#include "runners/synthetic/move_landscape.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/rng.h"

namespace warpath {
namespace {

constexpr double kSharpness = 1.5;

std::size_t size_of(const std::vector<int>& moves) {
  return std::size_t{1} << moves.size();
}

std::uint32_t lookup(MoveLandscape::Made made, std::span<const int> moves) {
  std::uint32_t row = 0;
  for (std::size_t i = 0; i < moves.size(); ++i)
    row |= static_cast<std::uint32_t>(made >> moves[i] & 1U) << i;
  return row;
}

std::uint64_t mixed(std::uint64_t seed, std::string_view purpose, std::uint64_t a, int b) {
  return mix64(mix64(hash128(purpose).low ^ mix64(seed)) ^ mix64(a) ^
               mix64(~static_cast<std::uint64_t>(b)));
}

/// Uniform in [0, 1) from 64 hashed bits.
double in_unit(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1.0p-53;
}

// clang-format off
constexpr MoveFamily kFamilies[] = {
    {.name = "pairs", .help = "enabling pairs among useless moves",
     .epistasis = Epistasis::pairs, .moves = 30, .depth = 10},
    {.name = "pairs_reversible", .help = "enabling pairs, every move can be undone",
     .epistasis = Epistasis::pairs, .reversible = true, .moves = 24, .depth = 12},
    {.name = "pairs_failing", .help = "enabling pairs, half of the variants fail",
     .epistasis = Epistasis::pairs, .moves = 24, .depth = 8, .failure = 0.5},
    {.name = "plateau", .help = "groups of two on a plateau, most useless moves change nothing",
     .epistasis = Epistasis::royal_road, .moves = 20, .depth = 8, .neutral = 0.7},
    {.name = "chain", .help = "moves that enable each other in fives, three in ten variants fail",
     .epistasis = Epistasis::chain, .moves = 35, .depth = 15, .group = 5, .failure = 0.3},
    {.name = "rugged", .help = "nk, moves stay made",
     .epistasis = Epistasis::nk, .moves = 18, .ruggedness = 3, .failure = 0.2},
    {.name = "rugged_reversible", .help = "nk, every move can be undone",
     .epistasis = Epistasis::nk, .reversible = true, .moves = 16, .ruggedness = 4},
    {.name = "traps", .help = "groups of three that lose until they are complete",
     .epistasis = Epistasis::traps, .moves = 21, .depth = 9, .group = 3},
    {.name = "pairs_deep", .help = "twenty moves to the optimum, a quarter of the variants fail",
     .epistasis = Epistasis::pairs, .moves = 40, .depth = 20, .failure = 0.25},
    {.name = "chain_reversible", .help = "moves that enable each other in fours",
     .epistasis = Epistasis::chain, .reversible = true, .moves = 24, .depth = 12, .group = 4,
     .neutral = 0.6},
    {.name = "rugged_failing", .help = "nk of little ruggedness, three in ten variants fail",
     .epistasis = Epistasis::nk, .reversible = true, .moves = 18, .ruggedness = 2, .failure = 0.3},
    {.name = "traps_twos", .help = "groups of two that lose until they are complete",
     .epistasis = Epistasis::traps, .moves = 22, .depth = 8, .group = 2},
    {.name = "pairs_wide", .help = "enabling pairs among many useless moves",
     .epistasis = Epistasis::pairs, .moves = 45, .depth = 12, .failure = 0.2, .neutral = 0.5},
    {.name = "pairs_halved", .help = "enabling pairs, every move can be undone, half of the variants fail",
     .epistasis = Epistasis::pairs, .reversible = true, .moves = 20, .depth = 6, .failure = 0.5},
    {.name = "plateau_threes", .help = "groups of three on a plateau",
     .epistasis = Epistasis::royal_road, .moves = 18, .depth = 6, .group = 3, .neutral = 0.5},
    {.name = "chain_sixes", .help = "moves that enable each other in sixes",
     .epistasis = Epistasis::chain, .moves = 30, .depth = 18, .group = 6, .failure = 0.2,
     .neutral = 0.2},
    {.name = "chain_threes", .help = "moves that enable each other in threes, four in ten variants fail",
     .epistasis = Epistasis::chain, .reversible = true, .moves = 27, .depth = 9, .group = 3,
     .failure = 0.4},
    {.name = "rugged_high", .help = "nk of much ruggedness, moves stay made",
     .epistasis = Epistasis::nk, .moves = 17, .ruggedness = 5, .failure = 0.1},
    {.name = "rugged_wide", .help = "nk, every move can be undone, four in ten variants fail",
     .epistasis = Epistasis::nk, .reversible = true, .moves = 19, .ruggedness = 3, .failure = 0.4},
    {.name = "traps_fours", .help = "groups of four that lose until they are complete",
     .epistasis = Epistasis::traps, .moves = 24, .depth = 12, .group = 4, .failure = 0.2},
    {.name = "traps_reversible", .help = "groups of three that lose until they are complete, every move can be undone",
     .epistasis = Epistasis::traps, .reversible = true, .moves = 16, .depth = 6, .group = 3,
     .failure = 0.05},
    {.name = "keyed", .help = "the first move of a group of four enables its three others",
     .epistasis = Epistasis::keyed, .moves = 32, .depth = 12, .group = 4, .failure = 0.2},
    {.name = "keyed_reversible", .help = "the first move of a group of six enables its five others, every move can be undone",
     .epistasis = Epistasis::keyed, .reversible = true, .moves = 28, .depth = 12, .group = 6},
    {.name = "choices", .help = "one of three moves is to be made, eight times; moves stay made",
     .epistasis = Epistasis::choices, .moves = 36, .depth = 8, .group = 3, .failure = 0.15},
    {.name = "choices_reversible", .help = "one of five moves is to be made, six times; every move can be undone",
     .epistasis = Epistasis::choices, .reversible = true, .moves = 40, .depth = 6, .group = 5,
     .failure = 0.3},
    {.name = "idle", .help = "one of four moves is to be made and closes the others, six times, among many that seem to gain or to lose a little; moves stay made",
     .epistasis = Epistasis::choices, .moves = 60, .depth = 6, .group = 4, .failure = 0.05,
     .neutral = 0.8, .jitter = 0.001, .exclusive = true, .kinds = true},
    {.name = "idle_keyed", .help = "the first move of a group of four enables its three others, among many that seem to gain or to lose a little; moves stay made",
     .epistasis = Epistasis::keyed, .moves = 48, .depth = 12, .group = 4, .neutral = 0.8,
     .jitter = 0.001, .kinds = true},
    {.name = "idle_pairs", .help = "enabling pairs among many moves that seem to gain or to lose a little",
     .epistasis = Epistasis::pairs, .moves = 50, .depth = 8, .neutral = 0.8, .jitter = 0.002, .kinds = true},
    {.name = "idle_threes", .help = "one of three moves is to be made and closes the others, eight times, a quarter of the variants fail, among many that seem to gain or to lose a little",
     .epistasis = Epistasis::choices, .moves = 54, .depth = 8, .group = 3, .failure = 0.25,
     .neutral = 0.7, .jitter = 0.002, .exclusive = true, .kinds = true},
    {.name = "coupled", .help = "one of three moves is to be made and closes the others, at four pairs of places; which is best at one depends on the other's; among many that seem to gain or to lose a little",
     .epistasis = Epistasis::coupled, .moves = 60, .depth = 8, .group = 3, .failure = 0.05,
     .neutral = 0.8, .jitter = 0.001, .exclusive = true, .kinds = true},
    {.name = "coupled_fours", .help = "one of four moves is to be made and closes the others, at three pairs of places; which is best at one depends on the other's; a fifth of the variants fail",
     .epistasis = Epistasis::coupled, .moves = 48, .depth = 6, .group = 4, .failure = 0.2,
     .neutral = 0.7, .jitter = 0.002, .exclusive = true, .kinds = true},
};
// clang-format on

}  // namespace

MoveLandscape::MoveLandscape(const MoveFamily& family, MovePrior prior, std::uint64_t seed)
    : family_(family), prior_(prior), seed_(seed) {
  if (family_.epistasis == Epistasis::nk) {
    add_nk();
    find_optimum_exhaustively();
  } else {
    add_groups();
    choose_safe_path();
  }
  scale(kGain / sum(optimum_));
}

/// Called when all tables but nk's are there: the first are of useful moves.
void MoveLandscape::note_groups(std::size_t useful) {
  groups_.resize(static_cast<std::size_t>(family_.moves));
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    const bool coupled = family_.epistasis == Epistasis::coupled && t < useful;
    const std::size_t size = coupled ? tables_[t].moves.size() / 2 : tables_[t].moves.size();
    for (std::size_t i = 0; i < tables_[t].moves.size(); i += size) {
      const std::span<const int> group = std::span(tables_[t].moves).subspan(i, size);
      Made made = 0;
      for (const int move : group) made = apply(made, move);
      for (const int move : group) groups_[static_cast<std::size_t>(move)] = made;
      if (t >= useful) useless_ |= made;
    }
  }
  for (std::size_t t = useful; t < tables_.size(); ++t)
    groups_[static_cast<std::size_t>(tables_[t].moves.front())] = useless_;
}

void MoveLandscape::scale(double factor) {
  for (Table& table : tables_) {
    for (double& g : table.gains) g *= factor;
  }
}

/// Two places with a choice each: alone each choice gains up to half of all, two together anything
/// up to nine tenths, and the first ones all. More than one at a place gain nothing.
void MoveLandscape::couple(Table& table, double all, Rng& rng) const {
  const auto group = static_cast<unsigned>(family_.group);
  for (std::size_t row = 1; row < table.gains.size(); ++row) {
    const std::size_t here = row & ((std::size_t{1} << group) - 1), there = row >> group;
    if (std::popcount(here) > 1 || std::popcount(there) > 1) continue;
    table.gains[row] = all * (here == 0 || there == 0 ? 0.5 : 0.9) * rng.uniform();
  }
  table.gains[(std::size_t{1} << group) + 1] = all;
}

/// Useful moves in groups, then useless ones, over a random numbering.
void MoveLandscape::add_groups() {
  constexpr double kLoss = 0.15;  // of a move that came too early, as a share of its group's gain
  Rng rng(seed_, "moves/groups");
  const std::vector<std::uint32_t> numbering =
      rng.permutation(static_cast<std::uint32_t>(family_.moves));
  std::size_t next = 0;
  const auto take = [&](int count) {
    Table table;
    for (int i = 0; i < count; ++i) table.moves.push_back(static_cast<int>(numbering[next++]));
    table.gains.resize(size_of(table.moves));
    return table;
  };
  int singles = family_.epistasis == Epistasis::pairs ? family_.depth / 2 : 0;
  for (int left = family_.depth; left > 0;) {
    const bool single = singles > 0;
    const bool pair = family_.epistasis == Epistasis::pairs && !single;
    const bool choice = family_.epistasis == Epistasis::choices;
    const bool coupled = family_.epistasis == Epistasis::coupled;
    const int size = coupled  ? 2 * family_.group
                     : choice ? family_.group
                              : std::min(left, single ? 1
                                               : pair ? 2
                                                      : family_.group);
    if (single) --singles;
    left -= coupled ? 2 : choice ? 1 : size;
    Table table = take(size);
    const double all = std::exp(rng.normal()) * size;
    if (coupled) {
      couple(table, all, rng);
      tables_.push_back(std::move(table));
      continue;
    }
    const std::size_t full = table.gains.size() - 1;
    std::vector<double> values;  // of choices, a group's first the best
    for (int i = 0; choice && i < size; ++i) values.push_back(i == 0 ? all : all * rng.uniform());
    for (std::size_t row = 1; row <= full; ++row) {
      const int made = std::popcount(row);
      const int leading = std::countr_one(row);
      double& g = table.gains[row];
      if (choice) {
        for (std::size_t i = 0; i < values.size(); ++i)
          if ((row >> i & 1U) != 0) g = std::max(g, values[i]);
        g -= kLoss * all * (made - 1);
      } else if (row == full)
        g = all;
      else if (family_.epistasis == Epistasis::keyed)
        g = (row & 1U) != 0 ? all * (made - 1) / size : -kLoss * all * made / size;
      else if (family_.epistasis == Epistasis::royal_road)
        g = 0;
      else if (family_.epistasis == Epistasis::traps)
        g = -kLoss * all * made / size;
      else if (family_.epistasis == Epistasis::chain)
        g = all * (leading - kLoss * (made - leading)) / size;
      else
        g = -kLoss * all * (made - leading);
    }
    tables_.push_back(std::move(table));
  }
  const std::size_t useful = tables_.size();
  while (next < numbering.size()) {
    Table table = take(1);
    if (rng.uniform() >= family_.neutral)
      table.gains[1] = -0.5 * std::exp(rng.normal());
    else
      neutral_ = apply(neutral_, table.moves.front());
    tables_.push_back(std::move(table));
  }
  note_groups(useful);
}

/// A way to the optimum on which nothing fails: the moves of each group in their order, the groups
/// in turns as they are drawn.
void MoveLandscape::choose_safe_path() {
  Rng rng(seed_, "moves/path");
  std::vector<std::vector<int>> groups;
  for (const Table& table : tables_) {
    const auto best = std::ranges::max_element(table.gains) - table.gains.begin();
    std::vector<int> moves;
    for (std::size_t i = 0; i < table.moves.size(); ++i)
      if ((best >> i & 1) != 0) moves.push_back(table.moves[i]);
    if (!moves.empty()) groups.push_back(std::move(moves));
  }
  safe_.push_back(0);
  while (!groups.empty()) {
    const std::size_t at = rng.below(groups.size());
    optimum_ = apply(optimum_, groups[at].front());
    safe_.push_back(optimum_);
    groups[at].erase(groups[at].begin());
    if (groups[at].empty()) groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::ranges::sort(safe_);
}

void MoveLandscape::add_nk() {
  const auto count = static_cast<std::uint32_t>(family_.moves);
  for (std::uint32_t i = 0; i < count; ++i) {
    groups_.push_back(apply(0, static_cast<int>(i)));
    Rng rng(seed_, "moves/nk", i);
    Table table{.moves = {static_cast<int>(i)}, .gains = {}};
    for (const std::uint32_t j : rng.permutation(count)) {
      if (j != i && table.moves.size() <= static_cast<std::size_t>(family_.ruggedness))
        table.moves.push_back(static_cast<int>(j));
    }
    table.gains.resize(size_of(table.moves));
    for (double& g : table.gains) g = rng.normal();
    const double root = table.gains.front();
    for (double& g : table.gains) g -= root;
    tables_.push_back(std::move(table));
  }
}

void MoveLandscape::find_optimum_exhaustively() {
  safe_ = {0};
  std::vector<bool> seen(std::size_t{1} << family_.moves);
  std::vector<Made> open{0};
  seen[0] = true;
  double best = 0;
  while (!open.empty()) {
    const Made at = open.back();
    open.pop_back();
    if (const double g = gain(at); g > best || (g == best && at < optimum_))
      best = g, optimum_ = at;
    for (int move = 0; move < family_.moves; ++move) {
      const Made to = apply(at, move);
      if (!legal(at, move) || seen[to]) continue;
      seen[to] = true;
      if (status(to) == Status::ok) open.push_back(to);
    }
  }
}

Status MoveLandscape::status(Made made) const {
  if (in_unit(mixed(seed_, "moves/failure", made, 0)) >= family_.failure ||
      std::ranges::binary_search(safe_, made))
    return Status::ok;
  // a variant never fails for a busy device
  constexpr auto kFailures = static_cast<std::uint64_t>(Status::crashed);
  return static_cast<Status>(1 + mixed(seed_, "moves/status", made, 0) % kFailures);
}

double MoveLandscape::sum(Made made) const {
  double out = 0;
  for (const Table& table : tables_) out += table.gains[lookup(made, table.moves)];
  return out;
}

double MoveLandscape::gain(Made made) const {
  if (family_.jitter <= 0 || made == 0 || made == optimum_) return sum(made);
  return sum(made) + family_.jitter * normal("moves/jitter", made, 0);
}

double MoveLandscape::time_ns(Made made) const {
  return kRootNs * std::exp(-gain(made));
}

double MoveLandscape::normal(std::string_view purpose, Made made, int move) const {
  return Rng(mixed(seed_, purpose, made, move), "moves/normal").normal();
}

void MoveLandscape::priors(Made made, std::vector<float>& out) const {
  std::vector<double> weights(static_cast<std::size_t>(family_.moves));
  for (int move = 0; move < family_.moves; ++move) {
    double& weight = weights[static_cast<std::size_t>(move)];
    if (!legal(made, move)) continue;
    weight = 1;
    if (prior_ == MovePrior::uniform) continue;
    const Made set = made >> move & 1U;
    const bool towards = ((made ^ optimum_) >> move & 1U) != 0;
    const double noise =
        (normal("moves/prior", set, move) + normal("moves/prior_here", made, move)) / std::sqrt(2);
    const bool favoured = towards == (prior_ == MovePrior::informative);
    weight = std::exp(kSharpness * ((favoured ? 1 : 0) + noise));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  out.clear();
  for (const double weight : weights)
    out.push_back(sum > 0 ? static_cast<float>(weight / sum) : 0.0F);
}

std::span<const MoveFamily> move_families() {
  return kFamilies;
}

const MoveFamily& move_family(std::string_view name, std::string_view place) {
  std::string names;
  for (const MoveFamily& family : kFamilies) {
    if (family.name == name) return family;
    names += (names.empty() ? "" : ", ") + std::string(family.name);
  }
  throw bad_input(place, name, "a family of landscapes: one of " + names);
}

MovePrior move_prior(std::string_view name, std::string_view place) {
  for (std::size_t i = 0; i < std::size(kMovePriorNames); ++i) {
    if (kMovePriorNames[i] == name) return static_cast<MovePrior>(i);
  }
  throw bad_input(place, name, "informative, uniform or misleading");
}

}  // namespace warpath
