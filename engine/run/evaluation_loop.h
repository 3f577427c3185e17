#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "engine/plugin/evaluator.h"

namespace warpath {

/// The client of an evaluation loop: a search, its finals, a batch of candidates. All calls come
/// from the loop's thread.
class EvaluationClient {
 public:
  virtual ~EvaluationClient() = default;
  enum class Turn : std::uint8_t {
    go,    ///< submit and settle
    wait,  ///< do neither: something external comes first
    end,   ///< leave without touching what is in flight
  };
  /// A turn of the loop begins.
  [[nodiscard]] virtual Turn turn() { return Turn::go; }
  /// The next submission when `under_way` are in flight; nullopt: nothing until another finishes.
  [[nodiscard]] virtual std::optional<Submission> next(std::size_t under_way) = 0;
  virtual void arrive(Completion done) = 0;
  /// Processes one arrived result and requests another turn; false: there is none.
  [[nodiscard]] virtual bool settle() { return false; }
  /// Called when nothing is in flight; true: external events may bring more work.
  [[nodiscard]] virtual bool expects_more() { return false; }
  /// Nothing has arrived that was not processed: the loop is about to wait.
  virtual void before_wait() {}
  /// Called about ten times a second while waiting.
  virtual void tick() {}
};

/// The loop over an evaluator: submit while there is room, collect results, stop cleanly.
///
///   turn -> next* -> settle? -> wait: arrive | tick -> turn ...
///
/// True once the client wants nothing and nothing is in flight, or at Turn::end; false if `abandon`
/// came first. Throws what evaluator and client throw.
[[nodiscard]] bool run_evaluations(Evaluator& evaluator,
                                   EvaluationClient& client,
                                   const std::stop_token& abandon);

/// Runs one evaluation with nothing beside it; nullopt: abandoned.
[[nodiscard]] std::optional<Outcome> evaluate_alone(Evaluator& evaluator,
                                                    Submission submission,
                                                    const std::function<void()>& tick,
                                                    const std::stop_token& abandon);

}  // namespace warpath
