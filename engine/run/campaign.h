#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/key_table.h"
#include "engine/base/pool.h"
#include "engine/log/events.h"
#include "engine/plugin/objective.h"
#include "engine/plugin/options.h"
#include "engine/plugin/policy.h"
#include "engine/run/finals.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "engine/run/snapshot.h"
#include "engine/run/variant_space.h"
#include "engine/search/search.h"
#include "engine/search/strategy_state.h"
#include "engine/search/tuner.h"

namespace warpath {

/// The state of one run, changed by events. A live session and the replay of a log make the same
/// calls in the same order, and so reach the same state. Not thread-safe.
///
///   baseline -> { { [arrival]* select -> [proposals] dispatch | idle ;  apply(outcome) }* ->
///   apply(heat | final)* }*
class Campaign {
 public:
  /// References must outlive the campaign. Nodes of `space` are variants of `spec` on `device`.
  Campaign(VariantSpace& space,
           const KernelSpec& spec,
           const DeviceFacts& device,
           const Options& options);

  /// Applies the baseline; one that is ok begins the search. Returns the reason if it is not,
  /// otherwise empty.
  std::string apply(const BaselineEvent& event);
  /// A process starts working on the run.
  void begin_session();
  [[nodiscard]] bool begun() const { return search_.has_value(); }

  /// An evaluation that was dispatched but not yet applied.
  struct Pending {
    std::uint64_t sequence = 0;
    NodeId node = kNoNode;
    NodeId parent = kNoNode;
    double incumbent_ns = 0;
    SourceShares shares = {};
    void keep(StrategyState& state) { state(sequence, node, parent, incumbent_ns, shares); }
  };
  /// Requests the next evaluation from the search. Null: there is none now (record an IdleEvent,
  /// since the call may have changed the graph). Valid until something is applied.
  [[nodiscard]] const Pending* select();
  /// As select(), restricted to late proposals that go first. Null: there is none, and nothing to
  /// record.
  [[nodiscard]] const Pending* select_first();
  /// The event that records a selected evaluation.
  [[nodiscard]] DispatchEvent event_of(const Pending& chosen) const;
  /// False after a select() without result until the next outcome: it would give the same result.
  [[nodiscard]] bool may_select() const { return begun() && !asked_in_vain_; }

  /// Adds the last gates. Outcomes must be judged before they are logged and applied.
  void judge(Outcome& outcome) const { objective_.judge(outcome); }

  struct Applied {
    NodeId node = kNoNode;
    double speedup = 0;  ///< 0 unless ok
    bool improved = false;
  };
  /// Throws Error(bad_input) with `place` if no dispatch with this sequence is in flight.
  Applied apply(const OutcomeEvent& event, const std::string& place);
  /// Applies a final; also with a snapshot, since the graph is not involved. Throws
  /// Error(bad_input) with `place` if the key is of another variant, or as Finals.
  Finals::Applied apply(const FinalEvent& event, const std::string& place);
  Finals::Applied apply(const HeatEvent& event, const std::string& place);
  /// Adds proposals for an existing node: they wait for select(), which prefers them to its own as
  /// long as their share allows. Throws Error(bad_input) with `place` if no node has that key.
  void apply(const ArrivalEvent& event, const std::string& place);
  /// True if `proposer` is finished with the variant `key`.
  [[nodiscard]] bool has_heard(const Hash128& key, std::string_view proposer) const;
  /// Nodes whose outcomes were applied, in that order.
  [[nodiscard]] std::span<const NodeId> evaluated() const {
    return {evaluated_.data(), evaluated_.size()};
  }
  /// Number of late proposals not dispatched yet; some may prove illegal.
  [[nodiscard]] std::size_t late_count() const { return late_.size(); }

  /// Writes what it and the search know beside graph, state and space, once begun.
  void keep(StrategyState& state);
  /// Brings a fresh campaign to the state of `snapshot`, where what keep() wrote comes next and
  /// last; the space must know the nodes. Throws Error(bad_input) with `place` if they are
  /// inconsistent.
  void adopt(Snapshot snapshot, const std::string& place);

  /// In flight, in dispatch order.
  [[nodiscard]] const std::deque<Pending>& pending() const { return pending_; }
  /// Seed of an evaluation's inputs.
  [[nodiscard]] std::uint64_t input_seed(std::uint64_t sequence) const;
  [[nodiscard]] std::uint64_t final_seed(const Finals::Due& due) const;

  [[nodiscard]] const VariantSpace& space() const { return space_; }
  [[nodiscard]] const Search& search() const { return *search_; }  ///< once begun
  [[nodiscard]] EdgeTexts& links();                                ///< Snapshot::links, once begun
  [[nodiscard]] std::uint64_t dispatched() const { return dispatched_; }
  [[nodiscard]] const StatusCounts& by_status() const { return by_status_; }
  [[nodiscard]] Progress progress(double seconds) const;
  [[nodiscard]] NodeId best() const { return best_; }
  [[nodiscard]] const Finals& finals() const { return *finals_; }  ///< once begun
  /// What to report now: the winner of the finals if they are decided, otherwise the best of the
  /// search.
  struct Standing {
    NodeId node{0};
    double speedup = 1;
    double baseline_ms = 0;
    /// null: the space does not keep outcomes
    std::shared_ptr<const Verdict> verdict = nullptr;
    int finalists = 0;
    bool measured = true;  ///< as Finals::Winner
  };
  [[nodiscard]] Standing standing() const;  ///< once begun
  /// Interval of `standing.speedup`, as in SessionResult.
  [[nodiscard]] std::optional<Interval> interval_of(const Standing& standing) const;
  /// From now on unfinished finals count as they are: no more will be evaluated.
  void keep_finals() { finals_kept_ = true; }
  [[nodiscard]] double baseline_ms() const { return objective_.baseline_ns() * 1e-6; }
  [[nodiscard]] double best_speedup() const;
  /// Speed-up of a node's outcome; 0 unless it is ok.
  [[nodiscard]] double speedup(NodeId node) const;
  [[nodiscard]] double seconds() const { return seconds_; }  ///< wall time as of the last event
  [[nodiscard]] const std::string& baseline_problem() const { return baseline_problem_; }

 private:
  /// Common to finals and heats.
  template <class E>
  Finals::Applied apply_final(const E& event, const std::string& place);
  /// The first node whose outcome has this machine code, if that is another than `node`.
  [[nodiscard]] NodeId twin(NodeId node, const Outcome& outcome);
  void rank(const Outcome& outcome, double reward, Applied& applied);
  /// What it knows beside search and space.
  void keep_own(StrategyState& state);
  /// By the objective; nullopt unless its outcome is ok.
  [[nodiscard]] std::optional<double> reward_of(NodeId node) const;
  void tune_by(NodeId node, bool ok, double reward);
  void polish();
  [[nodiscard]] std::optional<Dispatch> tune();
  struct Late {
    NodeId parent = kNoNode;
    double share = 1;
    Proposal proposal;
    void keep(StrategyState& state);
  };
  /// The next late proposal whose share permits it.
  [[nodiscard]] std::optional<Dispatch> late(const std::function<bool(double)>& may_go);
  const Pending& dispatched(const Dispatch& dispatch);
  void pend(Pending pending);
  [[nodiscard]] bool tunes(NodeId node) const;

  VariantSpace& space_;
  const Options& options_;
  ObjectiveFunction objective_;
  std::optional<Search> search_;
  EdgeTexts links_;  // of the first `links_seen_` edges
  std::uint32_t links_seen_ = 0;
  Tuner tuner_;
  bool finals_kept_ = false;
  std::optional<Finals> finals_;
  std::deque<Pending> pending_;
  std::deque<Late> late_;  // those that go first before the others
  Pool<NodeId> evaluated_;
  KeyTable codes_;                                   // Outcome::binary_key of ok ones
  Pool<NodeId> first_of_code_;                       // by number in codes_
  std::set<std::pair<Hash128, std::string>> heard_;  // node, late proposer
  std::uint64_t late_dispatched_ = 0;
  std::uint64_t dispatched_ = 0;
  std::uint64_t evaluations_ = 0;
  std::uint64_t since_improvement_ = 0;
  StatusCounts by_status_{};
  NodeId best_{0};
  double baseline_reward_ = 0;  // not 0 where launches of itself were timed alongside
  double best_reward_ = 0;
  double best_bound_share_ = 0;
  double seconds_ = 0;
  double device_seconds_ = 0;
  bool asked_in_vain_ = false;
  std::string baseline_problem_;
};

}  // namespace warpath
