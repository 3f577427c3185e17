#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/rng.h"
#include "engine/plugin/outcome.h"

namespace warpath {

/// How the gains of moves depend on each other.
enum class Epistasis : std::uint8_t {
  pairs,       ///< half of the useful moves work alone, half in pairs: the first enables the second
  royal_road,  ///< a group gains when all of its moves are made, and nothing before
  traps,       ///< as royal_road, and each move before the last loses
  chain,       ///< a move of a group gains after those before it, and loses until then
  keyed,       ///< the other moves of a group gain once its first, which gains nothing, is made
  choices,     ///< moves of a group stand for each other: the best made counts, more than one cost
  coupled,  ///< choices, in pairs of places: what is best at one depends on the choice at the other
  nk,       ///< each move's contribution depends on `ruggedness` others
};

/// What is known of a move before it was tried.
enum class MovePrior : std::uint8_t { informative, uniform, misleading };
inline constexpr std::string_view kMovePriorNames[] = {"informative", "uniform", "misleading"};

/// The parameters of a family of landscapes.
struct MoveFamily {
  std::string_view name;
  std::string_view help;
  Epistasis epistasis = Epistasis::pairs;
  bool reversible = false;
  int moves = 24;        ///< 2 to 60; nk: 2 to 20
  int depth = 10;        ///< moves from the root to the optimum; nk: as it turns out
  int group = 2;         ///< moves in a group, all but pairs and nk; coupled: at a place
  int ruggedness = 3;    ///< nk
  double failure = 0.1;  ///< share of the variants that fail
  double neutral = 0.3;  ///< share of the useless moves that change nothing; the others lose
  /// Standard deviation of what each variant adds to ln(time): the moves that change nothing then
  /// change the code, and seem to gain or to lose. 0: equal code and equal times.
  double jitter = 0;
  bool exclusive = false;  ///< choices, coupled: of a group one move alone can be made
  bool kinds = false;      ///< moves of a group are of a kind (Space::family), all useless ones too
};

/// A seeded search space of moves with a known optimum: a variant is the set of the moves made, the
/// root has none. A move that was made stays made; if the family is `reversible` every move undoes
/// itself.
///
/// ln(time of the root / time) is a sum of tables over small sets of moves, `kGain` at the optimum.
/// With disjoint sets (all but nk) the optimum is the sum of their maxima; a path to it is kept
/// free of failures. With nk it is found by exhaustive search over what the root leads to.
///
///   moves       0 1 | 2 3 | 4 | 5 | 6 ...
///   tables      pair  pair  single  useless
///   gain        0 0 -.1 .6   ...   .2   -.05
///
/// P(a) at a variant is proportional to e^(kSharpness (u + noise)), where u is 1 for a move towards
/// the optimum (misleading: away from it), otherwise 0, and noise is a standard normal, half of
/// whose variance belongs to the move and half to the move at this variant.
class MoveLandscape {
 public:
  using Made = std::uint64_t;  ///< bit i: move i was made

  /// A pure function of its arguments.
  MoveLandscape(const MoveFamily& family, MovePrior prior, std::uint64_t seed);

  [[nodiscard]] int moves() const { return family_.moves; }
  /// False: the move was made and cannot be undone, or another one closed it.
  [[nodiscard]] bool legal(Made made, int move) const {
    const Made others = group(move) & ~(Made{1} << move);
    if (family_.exclusive && (useless_ >> move & 1U) == 0 && (made & others) != 0) return false;
    return family_.reversible || (made >> move & 1U) == 0;
  }
  [[nodiscard]] static Made apply(Made made, int move) { return made ^ (Made{1} << move); }
  /// Status::ok, or why the variant fails. The root and the optimum never do.
  [[nodiscard]] Status status(Made made) const;
  /// ln(time of the root / time), whatever the status; the same whenever it is asked for.
  [[nodiscard]] double gain(Made made) const;
  /// Equal for variants that differ in moves that change neither time nor code only.
  [[nodiscard]] Made code(Made made) const { return family_.jitter > 0 ? made : made & ~neutral_; }
  /// The moves of a move's group (coupled: place), itself included; of a useless one all useless.
  [[nodiscard]] Made group(int move) const { return groups_[static_cast<std::size_t>(move)]; }
  [[nodiscard]] bool has_kinds() const { return family_.kinds; }
  /// kRootNs at the root.
  [[nodiscard]] double time_ns(Made made) const;
  /// Fills `out` ([moves]) with P(a) >= 0 of every move, 0 where it is not legal.
  void priors(Made made, std::vector<float>& out) const;

  /// The variant of greatest gain, but for jitter, that is ok and can be reached from the root
  /// through variants that are ok.
  [[nodiscard]] Made optimum() const { return optimum_; }

  static constexpr double kGain = 2;
  static constexpr double kRootNs = 1e6;

 private:
  struct Table {
    std::vector<int> moves;     // lowest bit first
    std::vector<double> gains;  // [2^moves]
  };
  void add_groups();
  void note_groups(std::size_t useful);
  void couple(Table& table, double all, Rng& rng) const;
  void add_nk();
  void choose_safe_path();
  void find_optimum_exhaustively();
  void scale(double factor);
  [[nodiscard]] double sum(Made made) const;
  [[nodiscard]] double normal(std::string_view purpose, Made made, int move) const;

  MoveFamily family_;
  MovePrior prior_;
  std::uint64_t seed_;
  std::vector<Table> tables_;
  std::vector<Made> groups_;  // by move
  Made useless_ = 0;
  Made neutral_ = 0;  // moves that change nothing
  Made optimum_ = 0;
  std::vector<Made> safe_;  // never fail; ascending
};

/// By name.
[[nodiscard]] std::span<const MoveFamily> move_families();
/// Throws Error(bad_input) with `place`.
[[nodiscard]] const MoveFamily& move_family(std::string_view name, std::string_view place);
[[nodiscard]] MovePrior move_prior(std::string_view name, std::string_view place);

}  // namespace warpath
