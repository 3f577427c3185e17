#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/base/registry.h"
#include "engine/base/rng.h"

namespace warpath {

/// One arm of a node as a selection policy sees it: a child edge, or (if `is_widen`) "open the next
/// untried action".
struct Arm {
  /// Q(s,a) in log-reward units; for the widen arm its first-play value
  double value = 0;
  double prior = 0;             ///< P(s,a)
  std::uint32_t visits = 0;     ///< N(s,a)
  std::uint32_t in_flight = 0;  ///< O(s,a), unobserved
  bool is_widen = false;
  bool operator==(const Arm&) const = default;
};

struct NodeView {
  std::uint64_t total_visits = 0;  ///< T = sum of N(s,a) + O(s,a)
  double own_reward = 0;
  double sigma = 0;  ///< standard deviation of all measured rewards so far, with a lower limit
};

/// Chooses an arm. Stateless; ties go to the lowest index: the widen arm, then the oldest edge.
class SelectionPolicy {
 public:
  virtual ~SelectionPolicy() = default;
  /// `arms` is not empty; arms[0] is the widen arm if offered, followed by the edges in order of
  /// creation. `rng`: this playout's stream if draws(), otherwise unspecified.
  [[nodiscard]] virtual std::size_t select(std::span<const Arm> arms,
                                           const NodeView& node,
                                           Rng& rng) const = 0;
  /// True if select() uses `rng`; only then is a stream created for each playout.
  [[nodiscard]] virtual bool draws() const { return false; }
  /// True if select() takes the first arm of the highest score, and the score of an arm depends on
  /// it and `node` alone and does not fall where Arm::value rises.
  [[nodiscard]] virtual bool by_score() const { return false; }
};

/// One child in a node's recomputation; or many of them, where a node has very many: their sum,
/// their mean by N(s,a) and their maximum.
struct ChildTerm {
  std::uint64_t edge_visits = 0;  ///< N(s,a)
  double value = 0;               ///< M of the child (if it failed: the lowest measured reward)
  double best = 0;                ///< B of the child
};

/// Computes backed-up values. Idempotent: a node's value is a function of its own reward and its
/// children weighted by *edge* visits.
class BackupPolicy {
 public:
  virtual ~BackupPolicy() = default;
  /// M(v) from r(v) and the children with N(s,a) > 0.
  [[nodiscard]] virtual double node_value(double own_reward,
                                          std::span<const ChildTerm> children) const = 0;
  /// Q(s,a) for selection, from the child's M and B.
  [[nodiscard]] virtual double edge_value(double child_value, double child_best) const = 0;
};

/// Decides when a node offers its next untried action, and its value before the first play.
class WideningPolicy {
 public:
  virtual ~WideningPolicy() = default;
  /// True if the widen arm is offered beside the children. `node_visits`: N(v) + O(v). `children`:
  /// number of edges so far (legal actions). `untried` > 0. Not called if no child can be
  /// descended: the widen arm is then the only one.
  [[nodiscard]] virtual bool offer(std::uint64_t node_visits,
                                   std::uint32_t children,
                                   std::uint32_t untried) const = 0;
  /// True if an offered widen arm is taken without consulting the selection policy.
  [[nodiscard]] virtual bool forced() const { return false; }
  /// First-play value of the untried action.
  [[nodiscard]] virtual double first_play_value(double own_reward,
                                                double node_value,
                                                double sigma) const = 0;
};

/// What a stop policy may use. Times only end a deterministic run; they do not affect its graph.
struct Progress {
  std::uint64_t evaluations = 0;        ///< outcomes applied, excluding the root
  std::uint64_t since_improvement = 0;  ///< evaluations since the best reward rose
  double seconds = 0;                   ///< wall time of this campaign, including earlier sessions
  double device_seconds = 0;            ///< Outcome::run_seconds of all of them and the baseline
  double best_reward = 0;
  /// of the best: its largest lower time bound over its time, first workload; 0: unknown
  double bound_share = 0;
};

class StopPolicy {
 public:
  virtual ~StopPolicy() = default;
  /// Empty: continue; otherwise the reason in a few words ("40 builds").
  [[nodiscard]] virtual std::string_view reason(const Progress& progress) const = 0;
  /// Number of evaluations that may still be dispatched when `dispatched` are in flight or done;
  /// lets a run end exactly at its budget.
  [[nodiscard]] virtual std::uint64_t remaining(const Progress& progress,
                                                std::uint64_t dispatched) const {
    static_cast<void>(progress), static_cast<void>(dispatched);
    return UINT64_MAX;
  }
  /// True if it depends on Progress::bound_share: a run without one is refused.
  [[nodiscard]] virtual bool needs_bound() const { return false; }
};

struct Options;  // engine/plugin/options.h
using SelectionRegistry = Registry<SelectionPolicy, const Options&>;
using BackupRegistry = Registry<BackupPolicy, const Options&>;
using WideningRegistry = Registry<WideningPolicy, const Options&>;
using StopRegistry = Registry<StopPolicy, const Options&>;

/// The registered policy named in `options`. Throws Error(bad_input) naming the option and the
/// known policies.
[[nodiscard]] std::unique_ptr<SelectionPolicy> make_selection(const Options& options);
[[nodiscard]] std::unique_ptr<BackupPolicy> make_backup(const Options& options);
[[nodiscard]] std::unique_ptr<WideningPolicy> make_widening(const Options& options);
/// All registered stop policies combined: the first reason in name order, the minimum of
/// remaining().
[[nodiscard]] std::unique_ptr<StopPolicy> make_stop(const Options& options);

}  // namespace warpath
