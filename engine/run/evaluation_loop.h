#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "engine/plugin/evaluator.h"

namespace warpath {

/// What an evaluation loop works for: a search, its finals, a batch of candidates. All calls come
/// from the thread of the loop.
class EvaluationClient {
 public:
  virtual ~EvaluationClient() = default;
  enum class Turn : std::uint8_t {
    go,    ///< submit, settle
    wait,  ///< neither: something outside comes first
    end,   ///< leave; what is under way stays so
  };
  /// A turn of the loop begins.
  [[nodiscard]] virtual Turn turn() { return Turn::go; }
  /// What to submit while `under_way` evaluations are; nullopt: nothing before another has come.
  [[nodiscard]] virtual std::optional<Submission> next(std::size_t under_way) = 0;
  virtual void arrive(Completion done) = 0;
  /// Deals with one thing that has arrived, and asks for another turn; false: there is nothing.
  [[nodiscard]] virtual bool settle() { return false; }
  /// Nothing is under way; true: something may still come from outside.
  [[nodiscard]] virtual bool expects_more() { return false; }
  /// While waiting, about ten times a second.
  virtual void tick() {}
};

/// The one loop over an evaluator: submit while there is room, take what comes back, stop cleanly.
///
///   turn -> next* -> settle? -> wait: arrive | tick -> turn ...
///
/// True once the client wants nothing and nothing is under way, or at Turn::end; false if `abandon`
/// came first. Throws what evaluator and client throw.
[[nodiscard]] bool run_evaluations(Evaluator& evaluator,
                                   EvaluationClient& client,
                                   const std::stop_token& abandon);

/// One evaluation with nothing beside it; nullopt: abandoned.
[[nodiscard]] std::optional<Outcome> evaluate_alone(Evaluator& evaluator,
                                                    Submission submission,
                                                    const std::function<void()>& tick,
                                                    const std::stop_token& abandon);

}  // namespace warpath
