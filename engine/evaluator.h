#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "engine/outcome.h"
#include "engine/runner.h"

namespace warpath {

/// A finished evaluation.
struct Completion {
  std::uint64_t sequence = 0;
  Outcome outcome;
};

/// Runs evaluations somewhere else (threads, processes, devices) and hands them back to the one thread that owns the graph.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// How many evaluations can be useful in flight.
  [[nodiscard]] virtual int width() const = 0;
  /// Copies `variant`; never blocks.
  virtual void submit(std::uint64_t sequence, Variant variant, Hash128 key, std::uint64_t seed, double incumbent_ns) = 0;
  /// The next finished evaluation in any order; nullopt after `timeout`.
  [[nodiscard]] virtual std::optional<Completion> wait(std::chrono::milliseconds timeout) = 0;
  /// Abandons everything in flight; wait() yields nothing more.
  virtual void cancel() = 0;
};

}  // namespace warpath
