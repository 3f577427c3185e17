#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/search/strategy_state.h"
#include "priors/tactics/experience.h"

namespace warpath {

/// Results of trying a move, as sums so that parts add up. Log gains are clipped to [-1.5, 3], so
/// that one kernel that becomes a hundred times faster does not dominate.
struct TacticStats {
  double tried = 0;
  double failed = 0;                                ///< without a time: refused, wrong, crashed
  double improved = 0;                              ///< gained kImproved or more
  double gain = 0, gain_squares = 0;                ///< of trials with a time
  double improvement = 0, improvement_squares = 0;  ///< of the improved
  void add(bool ok, double log_gain);
  void add(const TacticStats& other, double weight = 1);
  void keep(StrategyState& state) {
    state(tried, failed, improved, gain, gain_squares, improvement, improvement_squares);
  }
  bool operator==(const TacticStats&) const = default;
};

/// Beta(a, b) over the chance that a move improves.
struct BetaPosterior {
  double a = 1, b = 1;
  [[nodiscard]] double mean() const { return a / (a + b); }
  [[nodiscard]] double variance() const { return a * b / ((a + b) * (a + b) * (a + b + 1)); }
};
/// Normal over the mean log gain; `variance`: of the mean, `spread`: of one gain.
struct NormalPosterior {
  double mean = 0, variance = 0, spread = 0;
};
/// Belief about a move at a node.
struct TacticBelief {
  BetaPosterior improves;
  NormalPosterior gain;  ///< of a child with a time
  /// mean log gain with losses as 0: chance to improve times mean gain of improvements
  double expected = 0;
};

/// Moves as nodes, transitions as edges: which move follows which, by context, with the results.
/// The graph of other kernels and runs is kept apart from that of the current run. Beliefs are
/// refined from general to specific: all moves, structural ones or others, the move, in this class
/// of kernel, with this bottleneck, after this move; each level is the prior of the next with the
/// weight of a few trials.
class TacticGraph {
 public:
  struct Edge {
    std::string context, from, to;
    auto operator<=>(const Edge&) const = default;
    void keep(StrategyState& state) { state(context, from, to); }
  };

  void add(const Experience& experience) {
    add({experience.context, experience.from, experience.instance.move}, experience.ok(),
        experience.log_gain);
  }
  void add(const Edge& edge, bool ok, double log_gain);
  [[nodiscard]] const std::map<Edge, TacticStats>& edges() const { return edges_; }
  [[nodiscard]] bool empty() const { return edges_.empty(); }

  /// `own`: results of the current run, counted in full; this graph's own counts are limited to
  /// kMostTransferred trials per level.
  [[nodiscard]] TacticBelief believe(const Edge& at, const TacticGraph& own) const;

  /// To the bit, unlike a text.
  void keep(StrategyState& state) { state(edges_, sums_); }
  /// One line per edge, in order.
  [[nodiscard]] std::string text() const;
  /// Throws Error(bad_input) naming `place` and key.
  [[nodiscard]] static TacticGraph parse(const std::string& text, const std::string& place);

 private:
  /// Sums over edges: every transition counts at each of its levels.
  [[nodiscard]] static std::vector<std::string> levels(const Edge& edge);

  std::map<Edge, TacticStats> edges_;
  std::map<std::string, TacticStats, std::less<>> sums_;
};

}  // namespace warpath
