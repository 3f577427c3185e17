#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/plugin/objective.h"
#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"
#include "engine/run/events.h"
#include "engine/search/halving.h"

namespace warpath {

/// The last word on what a search found. The best of many noisy measurements flatters itself: the
/// largest of n readings of equal kernels lies above all of them (the winner's curse; Capen, Clapp
/// and Campbell 1971). So the best few are evaluated again at Stage::final, on inputs of their own,
/// and only these outcomes say what is reported. The search never sees them.
///
/// Finalists are taken from the search's ranking, best first, until `finalists` of them came back
/// ok, none is left that beat the baseline, or the time is over (`allowance`). Variants of equal
/// machine code and launch are one finalist: the first of the ranking. The baseline is evaluated
/// again before the first of a round; a round ends where the search goes on. What was evaluated
/// once is not evaluated again, in whatever round, unless it was not_measured and another session
/// begins.
///
/// A refused finalist casts doubt on its moves: what shares them comes later. With R the moves of a
/// refused one without those of finalists that passed, and C those of a candidate, candidates come
/// in three classes, by the largest |R n C| / |R|: at most 1/2, less than 1, 1; by rank within a
/// class. So a family of twins costs one refusal, not one each.
///
/// With more `final_candidates` than finalists the search only nominates: a candidate's place is
/// its reward plus Gumbel noise scaled by that reward's standard error, so that those whose order
/// the search cannot tell take their places by lot (the Gumbel-top-k trick: Kool, van Hoof and
/// Welling 2019), and sequential halving (engine/search/halving.h) by fresh evaluations at
/// Stage::confirmation ranks the first of them. Heats follow the baseline of a round. What a heat
/// read is not read again either. One thread only.
class Finals {
 public:
  /// `objective`: with the baseline set that the search was judged by. `options.finalists` 0: no
  /// finals.
  Finals(ObjectiveFunction objective, const RunOptions& options)
      : search_objective_(objective), objective_(std::move(objective)), options_(options) {}

  /// What the search knows of a candidate.
  struct Nominee {
    double reward = 0;            ///< 0 unless ok
    double standard_error = 0;    ///< of it
    std::set<std::string> moves;  ///< names of the moves that made it
    std::string binary_key;       ///< Outcome::binary_key; empty: unknown
  };
  /// The search applied an outcome, `seconds` of the run's wall time after its start.
  void enter(NodeId node, const Nominee& nominee, double seconds);
  void enter(NodeId node, double reward, double standard_error = 0) {
    enter(node, {.reward = reward, .standard_error = standard_error, .moves = {}, .binary_key = ""},
          0);
  }
  /// A process begins to work on the run: what was not_measured is due once more, and the time is
  /// counted anew.
  void begin_session();

  /// One evaluation. A heat's is at Stage::confirmation; of those of one node, `reading` were
  /// before it.
  struct Due {
    NodeId node = kNoNode;
    Stage stage = Stage::final;
    std::size_t reading = 0;
    auto operator<=>(const Due&) const = default;
  };
  /// What to evaluate now, in the order in which the outcomes must be applied; empty: nothing, the
  /// finals are decided.
  [[nodiscard]] std::vector<Due> due() const;

  /// Adds the last gates, against the baseline of this round.
  void judge(NodeId node, Outcome& outcome) const;
  struct Applied {
    double speedup = 0;   ///< over the baseline; 0 unless ok; 1 for the baseline
    std::string problem;  ///< baseline: why it cannot be one; the search's then serves in its place
  };
  /// Throws Error(bad_input) with `place` for a node that the search has no better outcome of than
  /// the baseline's, a second outcome of one (of a heat: another than its next), or an ok outcome
  /// without times.
  Applied apply(const FinalEvent& event, const std::string& place);
  Applied apply(const HeatEvent& event, const std::string& place);

  struct Final {
    Outcome outcome;
    double reward = 0;       ///< of one that is ok
    double baseline_ns = 0;  ///< objective time of the baseline it was held against
  };
  /// Null unless evaluated.
  [[nodiscard]] const Final* find(NodeId node) const;
  /// The baseline's outcome of this round; null if there is none that can be a baseline.
  [[nodiscard]] const Outcome* baseline() const { return baseline_ ? &*baseline_ : nullptr; }

  /// One that will not be reported.
  struct Dismissed {
    NodeId node = kNoNode;
    const Outcome* outcome = nullptr;  ///< refused or not_measured
  };
  /// In the order of the search's ranking.
  [[nodiscard]] std::vector<Dismissed> dismissed() const;
  /// Wall seconds that the finals may take: a quarter of the search's, 20, or those of 60 launches
  /// of the baseline, whichever is most; as long as nobody passed, twice that.
  [[nodiscard]] double allowance() const;
  /// How many finalists may be under way at once: one at first, for without it there is nothing to
  /// report; then as many as are expected to end in time if their runs (Outcome::run_seconds) come
  /// one after the other and what else they need side by side.
  [[nodiscard]] std::size_t room() const;
  /// How many of the wanted finalists there was no time for.
  [[nodiscard]] int left_out() const;

  struct Winner {
    NodeId node{0};  ///< 0: no finalist is better than the baseline
    /// false: it is the baseline only because others could not be measured
    bool measured = true;
    double speedup = 1;
    double baseline_ns = 0;
    const Verdict* verdict = nullptr;  ///< null for the baseline where its final outcome is not ok
    /// evaluated in all rounds, refused ones included (also by a heat), the baseline not
    int finalists = 0;
  };
  /// nullopt while something is due, if nobody beat the baseline, and without finals. `so_far`:
  /// what is due does not count.
  [[nodiscard]] std::optional<Winner> winner(bool so_far = false) const;

 private:
  /// Whoever may be a finalist, first choice first; `heats`, if it is not empty, must be read
  /// before that can be said.
  struct Order {
    std::vector<NodeId> nodes;
    std::vector<NodeId> heats;
  };
  [[nodiscard]] Order order() const;
  [[nodiscard]] std::vector<Due> wanted() const;
  [[nodiscard]] std::vector<NodeId> by_doubt(const std::vector<NodeId>& nodes) const;
  void spend(double seconds);
  void learn(double seconds, double run_seconds);
  [[nodiscard]] double reward_of(const Outcome& outcome, const std::string& place) const;
  void require_ranked(NodeId node, const Hash128& key, bool fresh, const std::string& place) const;

  ObjectiveFunction search_objective_;
  ObjectiveFunction objective_;  // of this round
  RunOptions options_;
  /// Kept of every candidate: small, for there are many.
  struct Traits {
    std::vector<std::uint16_t> moves;  // ascending, of move_numbers_
    Hash128 code;                      // of the binary key; zero: unknown
  };
  std::map<NodeId, Traits> traits_;
  std::map<std::string, std::uint16_t, std::less<>> move_numbers_;
  double last_seconds_ = 0, search_seconds_ = 0, spent_seconds_ = 0;
  double longest_run_ = 0, longest_rest_ = 0;  // seconds of a finalist: of its run, and beside it
  // (-reward, node): of the search, better than the baseline
  std::set<std::pair<double, NodeId>> ranking_;
  std::set<std::pair<double, NodeId>> nominated_;  // (-(reward + noise), node): of the same nodes
  std::map<NodeId, Readings> readings_;            // of heats
  std::map<NodeId, Final> finals_;                 // without the baseline
  bool baseline_timed_ = false;                    // in this round
  std::optional<Outcome> baseline_;
};

}  // namespace warpath
