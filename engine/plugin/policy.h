#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/base/registry.h"
#include "engine/base/rng.h"

namespace warpath {

/// What a selection policy sees of one arm of a node: a child edge, or (if `is_widen`) "open the
/// next untried action".
struct Arm {
  /// Q(s,a) in log-reward units; for the widen arm its first-play value
  double value = 0;
  double mean = 0;              ///< M of the child; of the widen arm 0
  double best = 0;              ///< B of the child; of the widen arm 0
  double prior = 0;             ///< P(s,a)
  std::uint32_t visits = 0;     ///< N(s,a)
  std::uint32_t in_flight = 0;  ///< O(s,a), unobserved
  bool is_widen = false;
};

struct NodeView {
  std::uint64_t total_visits = 0;  ///< T = sum of N(s,a) + O(s,a)
  double own_reward = 0;
  double sigma = 0;  ///< standard deviation of all measured rewards so far, floored
};

/// Chooses an arm. Stateless; ties go to the widen arm, then to the oldest edge: the lowest index.
class SelectionPolicy {
 public:
  virtual ~SelectionPolicy() = default;
  /// `arms` is not empty; the widen arm, if offered, is arms[0], then the edges in the order in
  /// which they were made. `rng` is this playout's stream if draws(), else any.
  [[nodiscard]] virtual std::size_t select(std::span<const Arm> arms,
                                           const NodeView& node,
                                           Rng& rng) const = 0;
  /// True if select() draws from `rng`: only then is a stream made for each playout.
  [[nodiscard]] virtual bool draws() const { return false; }
};

/// One child in a node's recomputation.
struct ChildTerm {
  std::uint32_t edge_visits = 0;  ///< N(s,a)
  double value = 0;               ///< M of the child (a failed child: the lowest measured reward)
  double best = 0;                ///< B of the child
};

/// Backs values up. Idempotent: a node's value is a function of its own reward and its children by
/// *edge* visits.
class BackupPolicy {
 public:
  virtual ~BackupPolicy() = default;
  /// M(v) from r(v) and the children with N(s,a) > 0.
  [[nodiscard]] virtual double node_value(double own_reward,
                                          std::span<const ChildTerm> children) const = 0;
  /// Q(s,a) as selection sees it, from the child's M and B.
  [[nodiscard]] virtual double edge_value(double child_value, double child_best) const = 0;
};

/// Decides when a node offers its next untried action, and what that is worth before it was played.
class WideningPolicy {
 public:
  virtual ~WideningPolicy() = default;
  /// True if the widen arm is offered beside the children. `node_visits`: N(v) + O(v). `children`:
  /// edges made so far (legal actions). `untried` > 0. Not asked where no child can be descended:
  /// the widen arm is then the only one.
  [[nodiscard]] virtual bool offer(std::uint64_t node_visits,
                                   std::uint32_t children,
                                   std::uint32_t untried) const = 0;
  /// True if, when offered, the widen arm is taken without asking the selection policy.
  [[nodiscard]] virtual bool forced() const { return false; }
  /// First-play value of the untried action.
  [[nodiscard]] virtual double first_play_value(double own_reward,
                                                double node_value,
                                                double sigma) const = 0;
};

/// What a stop policy may look at. Times do not enter deterministic runs' graphs: they only end
/// them.
struct Progress {
  std::uint64_t evaluations = 0;        ///< outcomes applied, root excluded
  std::uint64_t since_improvement = 0;  ///< evaluations since the best reward rose
  double seconds = 0;                   ///< wall time of this campaign, earlier sessions included
  double best_reward = 0;
};

class StopPolicy {
 public:
  virtual ~StopPolicy() = default;
  /// Empty = go on; else the reason in a few words ("40 builds").
  [[nodiscard]] virtual std::string_view reason(const Progress& progress) const = 0;
  /// Evaluations that may still be dispatched when `dispatched` are out or done; lets a run end at
  /// its exact budget.
  [[nodiscard]] virtual std::uint64_t remaining(const Progress& progress,
                                                std::uint64_t dispatched) const {
    static_cast<void>(progress), static_cast<void>(dispatched);
    return UINT64_MAX;
  }
};

struct SearchOptions;  // engine/plugin/options.h
struct RunOptions;
using SelectionRegistry = Registry<SelectionPolicy, const SearchOptions&>;
using BackupRegistry = Registry<BackupPolicy, const SearchOptions&>;
using WideningRegistry = Registry<WideningPolicy, const SearchOptions&>;
using StopRegistry = Registry<StopPolicy, const RunOptions&>;

/// The registered policy that `options` names. Throws Error(bad_input) naming the option and every
/// known policy.
[[nodiscard]] std::unique_ptr<SelectionPolicy> make_selection(const SearchOptions& options);
[[nodiscard]] std::unique_ptr<BackupPolicy> make_backup(const SearchOptions& options);
[[nodiscard]] std::unique_ptr<WideningPolicy> make_widening(const SearchOptions& options);
/// All registered stop policies together: the first reason in name order, the least remaining().
[[nodiscard]] std::unique_ptr<StopPolicy> make_stop(const RunOptions& options);

}  // namespace warpath
