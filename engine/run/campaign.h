#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plugin/objective.h"
#include "engine/plugin/options.h"
#include "engine/plugin/policy.h"
#include "engine/run/events.h"
#include "engine/run/finals.h"
#include "engine/run/session.h"
#include "engine/run/snapshot.h"
#include "engine/run/variant_space.h"
#include "engine/search/search.h"
#include "engine/search/tuner.h"

namespace warpath {

/// The state of one run: what every event does to it. A live session and the replay of a log go
/// through the same calls, in the same order, and so reach the same state. One thread only.
///
///   baseline -> { { [arrival]* select -> [proposals] dispatch | idle ;  apply(outcome) }* ->
///   apply(heat | final)* }*
class Campaign {
 public:
  /// References outlive the campaign. Nodes of `space` are variants of `spec` on `device`.
  Campaign(VariantSpace& space,
           const KernelSpec& spec,
           const DeviceFacts& device,
           const Options& options);

  /// Takes the baseline; one that is ok begins the search. Returns the reason if it is not, else
  /// empty.
  std::string apply(const BaselineEvent& event);
  /// A process begins to work on the run.
  void begin_session();
  [[nodiscard]] bool begun() const { return search_.has_value(); }

  /// An evaluation that was dispatched and has not been applied.
  struct Pending {
    std::uint64_t sequence = 0;
    NodeId node = kNoNode;
    NodeId parent = kNoNode;
    double incumbent_ns = 0;
    SourceShares shares = {};
  };
  /// Asks the search for the next evaluation. Null: there is none now (record it as an IdleEvent:
  /// asking may have changed the graph). Valid until something is applied.
  [[nodiscard]] const Pending* select();
  /// The next evaluation of those late proposals alone that go first; select() would say the same.
  /// Null, and nothing to record: there is none.
  [[nodiscard]] const Pending* select_first();
  /// The record of what was just selected.
  [[nodiscard]] DispatchEvent event_of(const Pending& chosen) const;
  /// False after a select() without result until the next outcome: asking again would say the same.
  [[nodiscard]] bool may_select() const { return begun() && !asked_in_vain_; }

  /// Adds the last gates; what is logged and applied is judged.
  void judge(Outcome& outcome) const { objective_.judge(outcome); }

  struct Applied {
    NodeId node = kNoNode;
    double speedup = 0;  ///< 0 unless ok
    bool improved = false;
  };
  /// Throws Error(bad_input) with `place` if nothing with this sequence is in flight.
  Applied apply(const OutcomeEvent& event, const std::string& place);
  /// The same under a snapshot: the graph takes no part. Throws Error(bad_input) with `place` for
  /// another variant's key, or as Finals.
  Finals::Applied apply(const FinalEvent& event, const std::string& place);
  Finals::Applied apply(const HeatEvent& event, const std::string& place);
  /// Proposals for a node that is there: they wait for select(), which takes them before its own as
  /// long as their share allows it. Throws Error(bad_input) with `place` if no node has that key.
  void apply(const ArrivalEvent& event, const std::string& place);
  /// True if `proposer` has said all that it will about the variant `key`.
  [[nodiscard]] bool has_heard(const Hash128& key, std::string_view proposer) const;
  /// Nodes whose outcomes were applied, in that order.
  [[nodiscard]] const std::vector<NodeId>& evaluated() const { return evaluated_; }
  /// Late proposals that no evaluation was dispatched for yet; some may prove illegal.
  [[nodiscard]] std::size_t late_count() const { return late_.size(); }

  // A prefix of the log whose graph a snapshot holds: counts only. The space knows the nodes.
  void restore(const DispatchEvent& event, const std::string& place);
  Applied restore(const OutcomeEvent& event, const std::string& place);
  void restore(const IdleEvent& event);
  /// Ends the prefix. Throws Error(bad_input) with `place` when snapshot and prefix contradict each
  /// other.
  void adopt(Snapshot snapshot, const std::string& place);

  /// In flight, in order of dispatch.
  [[nodiscard]] const std::deque<Pending>& pending() const { return pending_; }
  /// Seed of an evaluation's inputs.
  [[nodiscard]] std::uint64_t input_seed(std::uint64_t sequence) const;
  [[nodiscard]] std::uint64_t final_seed(const Finals::Due& due) const;

  [[nodiscard]] const VariantSpace& space() const { return space_; }
  [[nodiscard]] const Search& search() const { return *search_; }  ///< once begun
  [[nodiscard]] const std::map<EdgeId, std::string>& links();      ///< Snapshot::links, once begun
  [[nodiscard]] std::uint64_t dispatched() const { return dispatched_; }
  [[nodiscard]] const StatusCounts& by_status() const { return by_status_; }
  [[nodiscard]] Progress progress(double seconds) const;
  [[nodiscard]] NodeId best() const { return best_; }
  [[nodiscard]] const Finals& finals() const { return *finals_; }  ///< once begun
  /// What is to be reported as of now: the winner of the finals where they are decided, else the
  /// best of the search.
  struct Standing {
    NodeId node{0};
    double speedup = 1;
    double baseline_ms = 0;
    const Verdict* verdict = nullptr;  ///< null: the space keeps no outcomes
    int finalists = 0;
    bool measured = true;  ///< as Finals::Winner
  };
  [[nodiscard]] Standing standing() const;  ///< once begun
  /// Of `standing.speedup`, as SessionResult says.
  [[nodiscard]] std::optional<Interval> interval_of(const Standing& standing) const;
  /// From now on finals that are in count although others are due: nobody will evaluate those.
  void keep_finals() { finals_kept_ = true; }
  [[nodiscard]] double baseline_ms() const { return objective_.baseline_ns() * 1e-6; }
  [[nodiscard]] double best_speedup() const;
  /// Speed-up of a node's outcome; 0 unless it has one that is ok.
  [[nodiscard]] double speedup(NodeId node) const;
  [[nodiscard]] double seconds() const { return seconds_; }  ///< wall time as of the last event
  [[nodiscard]] const std::string& baseline_problem() const { return baseline_problem_; }

 private:
  /// Of a final or a heat, which say it alike.
  template <class E>
  Finals::Applied apply_final(const E& event, const std::string& place);
  Applied count(const OutcomeEvent& event, const std::string& place);
  void tune_by(NodeId node, bool ok, double reward);
  [[nodiscard]] std::optional<Dispatch> tune();
  struct Late {
    NodeId parent = kNoNode;
    double share = 1;
    Proposal proposal;
  };
  /// The next evaluation of late proposals, of those whose share may go now.
  [[nodiscard]] std::optional<Dispatch> late(const std::function<bool(double)>& may_go);
  const Pending& dispatched(const Dispatch& dispatch);
  void pend(Pending pending);
  [[nodiscard]] bool tunes(NodeId node) const;

  VariantSpace& space_;
  const Options& options_;
  ObjectiveFunction objective_;
  std::optional<Search> search_;
  std::map<EdgeId, std::string> links_;  // of the first `links_seen_` edges
  std::uint32_t links_seen_ = 0;
  Tuner tuner_;
  bool finals_kept_ = false;
  std::optional<Finals> finals_;
  std::deque<Pending> pending_;
  std::deque<Late> late_;  // those that go first ahead of the others
  std::vector<NodeId> evaluated_;
  std::vector<double> rewards_;                      // by NodeId; NaN unless ok
  std::set<std::pair<Hash128, std::string>> heard_;  // node, late proposer
  std::uint64_t late_dispatched_ = 0;
  std::uint64_t dispatched_ = 0;
  std::uint64_t evaluations_ = 0;
  std::uint64_t since_improvement_ = 0;
  StatusCounts by_status_{};
  NodeId best_{0};
  double best_reward_ = 0;
  double seconds_ = 0;
  bool asked_in_vain_ = false;
  std::string baseline_problem_;
};

}  // namespace warpath
