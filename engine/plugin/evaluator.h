#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "engine/base/ids.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/runner.h"

namespace warpath {

/// An evaluation to be made; owns what it needs.
struct Submission {
  std::uint64_t sequence = 0;
  NodeId node = kNoNode;             ///< of a campaign's space; kNoNode: of none
  std::optional<Variant> variant{};  ///< none: the evaluator knows the nodes
  Hash128 key{};                     ///< of the variant
  std::uint64_t seed = 0;            ///< of its inputs
  double incumbent_ns = 0;           ///< as in RunRequest
  Stage stage = Stage::screening;
  double searched_ns = 0;            ///< as in RunRequest
  std::optional<Variant> against{};  ///< as in RunRequest; none: the baseline
};

/// A finished evaluation.
struct Completion {
  std::uint64_t sequence = 0;
  Outcome outcome;
};

/// Runs evaluations somewhere else (threads, processes, devices) and hands them back to the one
/// thread that owns the graph.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// How many evaluations can be useful in flight.
  [[nodiscard]] virtual int width() const = 0;
  /// How many are of use now, 1 to width(): more would only wait, chosen before what they could
  /// have learnt from.
  [[nodiscard]] virtual int useful() const { return width(); }
  /// Never blocks.
  virtual void submit(Submission submission) = 0;
  /// The next finished evaluation in any order; nullopt after `timeout`.
  [[nodiscard]] virtual std::optional<Completion> wait(std::chrono::milliseconds timeout) = 0;
  /// Abandons everything in flight; wait() yields nothing more.
  virtual void cancel() = 0;
};

}  // namespace warpath
