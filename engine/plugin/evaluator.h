#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "engine/base/ids.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"

namespace warpath {

/// A requested evaluation; owns its data.
struct Submission {
  std::uint64_t sequence = 0;
  NodeId node = kNoNode;             ///< of a campaign's space; kNoNode: none
  std::optional<Variant> variant{};  ///< absent: the evaluator knows the nodes
  Hash128 key{};                     ///< of the variant
  std::uint64_t seed = 0;            ///< of its inputs
  double incumbent_ns = 0;           ///< as in RunRequest
  Stage stage = Stage::screening;
  double searched_ns = 0;            ///< as in RunRequest
  std::optional<Variant> against{};  ///< as in RunRequest; absent: the baseline
  double seconds_left = INFINITY;    ///< as in RunRequest
};

/// A finished evaluation.
struct Completion {
  std::uint64_t sequence = 0;
  Outcome outcome;
  bool withdrawn = false;  ///< given up by withdraw(): the outcome says nothing
};

/// Runs evaluations elsewhere (threads, processes, devices) and returns results to the one thread
/// that owns the graph.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Maximum useful number of evaluations in flight.
  [[nodiscard]] virtual int width() const = 0;
  /// The number useful now, 1 to width(): more would only queue, chosen before the results they
  /// could have learnt from.
  [[nodiscard]] virtual int useful() const { return width(); }
  /// Never blocks.
  virtual void submit(Submission submission) = 0;
  /// The next finished evaluation, in any order; nullopt after `timeout`.
  [[nodiscard]] virtual std::optional<Completion> wait(std::chrono::milliseconds timeout) = 0;
  /// Gives up the evaluations in flight that wait to be measured, as far as they can be told from
  /// others: each completes soon, as withdrawn. Later submissions are not affected.
  virtual void withdraw() {}
  /// Abandons all evaluations in flight; wait() then returns no more.
  virtual void cancel() = 0;
};

}  // namespace warpath
