#include <iterator>
#include <string>

#include "engine/base/error.h"
#include "runners/synthetic/move_landscape.h"

namespace warpath {
namespace {

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
};
// clang-format on

}  // namespace

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
