#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/base/pool.h"
#include "engine/log/events.h"
#include "engine/plugin/objective.h"
#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"
#include "engine/search/halving.h"
#include "engine/search/strategy_state.h"

namespace warpath {

/// Decides what a search reports. The best of many noisy measurements is biased: the largest of n
/// readings of equal kernels exceeds all of them (the winner's curse; Capen, Clapp and Campbell
/// 1971). Hence the best few are evaluated again at Stage::final, on fresh inputs, and only these
/// outcomes are reported. The search never sees them.
///
/// Finalists are taken from the search's ranking, best first, until `finalists` of them are ok,
/// none is left that beat the baseline, or time is over (`allowance`). Variants with equal machine
/// code and launch are one finalist: the first of the ranking. The baseline is evaluated again
/// before the first of a round; a round ends when the search continues. Nothing is evaluated twice,
/// even in another round, unless it was not_measured and another session begins.
///
/// A refused finalist casts doubt on its moves: candidates that share them come later. With R the
/// moves of a refused one without those of finalists that passed, and C those of a candidate,
/// candidates fall into three classes by the largest |R n C| / |R|: at most 1/2, less than 1, 1; by
/// rank within a class. A family of near-duplicates thus costs one refusal instead of one each.
///
/// With more `final_candidates` than finalists the search only nominates: a candidate's place is
/// its reward plus Gumbel noise scaled by that reward's standard error, so that indistinguishable
/// candidates are ordered at random (the Gumbel-top-k trick: Kool, van Hoof and Welling 2019), and
/// sequential halving (engine/search/halving.h) with fresh evaluations at Stage::confirmation ranks
/// the first of them. Heats follow the baseline of a round, and their readings are not repeated.
/// Not thread-safe.
class Finals {
 public:
  /// `objective`: with the baseline that the search was judged against. `options.finalists` 0: no
  /// finals.
  Finals(ObjectiveFunction objective, const RunOptions& options)
      : search_objective_(objective), objective_(std::move(objective)), options_(options) {}

  /// What the search knows about a candidate.
  struct Nominee {
    double reward = 0;            ///< 0 unless ok
    double standard_error = 0;    ///< of the reward
    std::set<std::string> moves;  ///< names of the moves that made it
    std::string binary_key;       ///< Outcome::binary_key; empty: unknown
  };
  /// Reports an outcome of the search, applied `seconds` of wall time after the start of the run.
  void enter(NodeId node, const Nominee& nominee, double seconds);
  void enter(NodeId node, double reward, double standard_error = 0) {
    enter(node, {.reward = reward, .standard_error = standard_error, .moves = {}, .binary_key = ""},
          0);
  }
  /// A process starts working on the run: not_measured finalists become due again, and time starts
  /// anew.
  void begin_session();

  /// One evaluation. A heat's is at Stage::confirmation, after `reading` others of the same node.
  struct Due {
    NodeId node = kNoNode;
    Stage stage = Stage::final;
    std::size_t reading = 0;
    auto operator<=>(const Due&) const = default;
  };
  /// What to evaluate now, in the order in which outcomes must be applied; empty: the finals are
  /// decided.
  [[nodiscard]] std::vector<Due> due() const;

  /// Adds the last gates, against the baseline of this round.
  void judge(NodeId node, Outcome& outcome) const;
  struct Applied {
    double speedup = 0;   ///< over the baseline; 0 unless ok; 1 for the baseline
    std::string problem;  ///< baseline: why it is unusable; the search's then replaces it
  };
  /// Throws Error(bad_input) with `place` for a node whose search outcome does not beat the
  /// baseline's, a second outcome of a node (of a heat: other than its next), or an ok outcome
  /// without times.
  Applied apply(const FinalEvent& event, const std::string& place);
  Applied apply(const HeatEvent& event, const std::string& place);

  struct Final {
    Outcome outcome;
    double reward = 0;       ///< if ok
    double baseline_ns = 0;  ///< objective time of the baseline it was compared with
    void keep(StrategyState& state);
  };
  /// Null unless evaluated.
  [[nodiscard]] const Final* find(NodeId node) const;
  /// The baseline's outcome in this round; null if there is no usable one.
  [[nodiscard]] const Outcome* baseline() const { return baseline_ ? &*baseline_ : nullptr; }

  /// A finalist that will not be reported.
  struct Dismissed {
    NodeId node = kNoNode;
    const Outcome* outcome = nullptr;  ///< refused or not_measured
  };
  /// In the order of the search's ranking.
  [[nodiscard]] std::vector<Dismissed> dismissed() const;
  /// Wall time limit of the finals in seconds: the maximum of a quarter of the search's, 20, and 60
  /// launches of the baseline; doubled as long as nobody has passed.
  [[nodiscard]] double allowance() const;
  /// What is left of it, not doubled; at least 0.
  [[nodiscard]] double seconds_left() const;
  /// Maximum number of finalists in flight: one at first, since without it there is nothing to
  /// report; then as many as are expected to finish in time if their runs (Outcome::run_seconds)
  /// are sequential and the rest of their evaluations concurrent.
  [[nodiscard]] std::size_t room() const;
  /// The number of wanted finalists that there was no time for.
  [[nodiscard]] int left_out() const;

  struct Winner {
    NodeId node{0};  ///< 0: no finalist is better than the baseline
    /// false: it is the baseline only because others could not be measured
    bool measured = true;
    double speedup = 1;
    double baseline_ns = 0;
    const Verdict* verdict = nullptr;  ///< null for the baseline if its final outcome is not ok
    /// number evaluated in all rounds, including refused ones (also by a heat), without the
    /// baseline
    int finalists = 0;
  };
  /// nullopt while something is due, if nobody beat the baseline, and without finals. `so_far`:
  /// ignore what is due.
  [[nodiscard]] std::optional<Winner> winner(bool so_far = false) const;

  void keep(StrategyState& state);

 private:
  void keep_candidates(StrategyState& state);
  /// A variant that the search found better than the baseline. Kept for each, hence small.
  struct Candidate {
    double reward = 0;
    NodeId node = kNoNode;
    std::uint32_t moves = 0;  // of move_sets_
  };
  static_assert(sizeof(Candidate) == 16);
  using Place = std::uint32_t;                 // in candidates_
  using MoveSet = std::vector<std::uint16_t>;  // ascending, of move_numbers_
  /// Possible finalists, first choice first; a non-empty `heats` must be measured first to decide.
  struct Order {
    std::vector<Place> places;
    std::vector<NodeId> heats;
  };
  [[nodiscard]] Order order() const;
  [[nodiscard]] std::vector<Due> wanted() const;
  [[nodiscard]] std::vector<Place> by_doubt(const std::vector<Place>& places) const;
  /// All candidates, the best first.
  [[nodiscard]] const std::vector<Place>& ranking() const;
  [[nodiscard]] std::optional<Place> find_candidate(NodeId node) const;
  [[nodiscard]] double nomination(Place place) const { return value_at(nominations_, place); }
  [[nodiscard]] Hash128 code(Place place) const { return value_at(codes_, place); }
  template <class T>
  static T value_at(const Pool<T>& values, Place place) {
    return place < values.size() ? values[place] : T{};
  }
  template <class T>
  static void set_value(Pool<T>& values, Place place, const T& value) {
    if (value == T{}) return;
    values.resize(place);
    values.push_back(value);
  }
  void spend(double seconds);
  void learn(double seconds, double run_seconds);
  [[nodiscard]] double usual_allowance() const;
  [[nodiscard]] double reward_of(const Outcome& outcome, const std::string& place) const;
  void require_ranked(NodeId node, const Hash128& key, bool fresh, const std::string& place) const;

  ObjectiveFunction search_objective_;
  ObjectiveFunction objective_;  // of this round
  RunOptions options_;
  std::map<std::string, std::uint16_t, std::less<>> move_numbers_;
  std::map<MoveSet, std::uint32_t> move_set_numbers_;
  std::vector<MoveSet> move_sets_;  // by number
  double last_seconds_ = 0, search_seconds_ = 0, spent_seconds_ = 0;
  double longest_run_ = 0, longest_rest_ = 0;  // seconds of a finalist: its run, and the rest
  Pool<Candidate> candidates_;                 // in the order in which they were entered
  // By Place, up to the last that is not zero, which in most runs none is.
  Pool<double> nominations_;             // reward + noise
  Pool<Hash128> codes_;                  // of the binary key; zero: unknown
  mutable std::vector<Place> ranking_;   // of as many of them as there were when it was asked for
  std::map<NodeId, Readings> readings_;  // of heats
  std::map<NodeId, Final> finals_;       // without the baseline
  bool baseline_timed_ = false;          // in this round
  std::optional<Outcome> baseline_;
};

}  // namespace warpath
