#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/search/strategy_state.h"

namespace warpath {

/// A running mean; 0 of nothing.
struct Mean {
  double count = 0;
  double sum = 0;
  void add(double x) { count += 1, sum += x; }
  [[nodiscard]] double value() const { return count > 0 ? sum / count : 0; }
  void keep(StrategyState& state) { state(count, sum); }
};

/// Least squares of gain on ln P, from pairs that arrive one by one.
class Trust {
 public:
  void add(double x, double y);
  /// The gain expected at `x`. A prior that misleads is not followed, nor reversed.
  [[nodiscard]] double at(double x) const;
  void keep(StrategyState& state) { state(x_, y_, xx_, xy_); }

 private:
  Mean x_, y_;
  double xx_ = 0, xy_ = 0;
};

/// A move of a node.
struct NodeMove {
  std::uint32_t action = 0;
  double log_prior = 0;                               // of P(s,a) times the number of actions
  std::uint64_t label = 0;                            // Space::label
  std::uint64_t family = 0;                           // Space::family
  void keep(StrategyState& state) { state(action); }  ///< the rest follows from the node
};

/// What moves gained wherever they were tried. A trial counts for e^(-d / reach) at a variant that
/// differs by d moves from the one it was made at.
class Gains {
 public:
  /// `margin`: gains no greater than this are none.
  Gains(double reach, double margin) : reach_(reach), margin_(margin) {}

  /// Makes a variant a context, given by the moves that lead to it, of which one made twice is
  /// undone; returns its number.
  [[nodiscard]] std::uint32_t add_context(std::vector<std::uint64_t> labels);
  /// nullopt: it changed nothing.
  void add(const NodeMove& move, std::uint32_t context, std::optional<double> gain);
  /// From now on gains are expected at `context`.
  void look_from(std::uint32_t context);
  /// The mean of trials, shrunk to that of other moves of its family, and this to what P predicts;
  /// with a `bonus` for what was seldom tried, in gains of the size that the family's have.
  [[nodiscard]] double expected(const NodeMove& move, double bonus);
  /// True if of a family's trials those that changed nothing outnumber the others by two: one that
  /// does nothing at one place says little of other places.
  [[nodiscard]] bool changes_little(std::uint64_t family) const;
  /// Mean absolute gain of the moves that changed something.
  [[nodiscard]] double size() const { return size_.value(); }
  void keep(StrategyState& state) { state(history_, contexts_, unchanged_, size_, trust_); }

 private:
  struct Trial {
    std::uint64_t label = 0;
    std::uint32_t context = 0;
    double gain = 0;
    void keep(StrategyState& state) { state(label, context, gain); }
  };
  [[nodiscard]] double weight(std::uint32_t context);

  double reach_, margin_;
  std::unordered_map<std::uint64_t, std::vector<Trial>> history_;  // by family
  std::vector<std::vector<std::uint64_t>> contexts_;               // sorted
  // by family: trials that changed nothing less those that did
  std::unordered_map<std::uint64_t, std::int32_t> unchanged_;
  Mean size_;
  Trust trust_;
  std::uint32_t from_ = UINT32_MAX;
  std::uint64_t look_ = 0;
  // of contexts: the latest look that asked for it, and what it was then
  std::vector<std::pair<std::uint64_t, double>> weights_;
  std::vector<double> by_difference_;  // what a trial so many moves away counts for
};

}  // namespace warpath
