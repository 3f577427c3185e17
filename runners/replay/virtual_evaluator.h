#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "engine/plugin/evaluator.h"

namespace warpath {

/// Evaluates on virtual devices, one evaluation each at a time, by a virtual clock: an outcome is
/// computed on submission and delivered in the order in which the devices would finish. It occupies
/// its device for its own compile and run seconds. Not thread-safe; deterministic.
class VirtualEvaluator final : public Evaluator {
 public:
  using Serve = std::function<Outcome(const Submission&)>;
  VirtualEvaluator(int devices, Serve serve);

  [[nodiscard]] int width() const override { return devices_; }
  void submit(Submission submission) override;
  /// Never blocks: advances the clock to the next completion; nullopt if nothing is in flight.
  [[nodiscard]] std::optional<Completion> wait(std::chrono::milliseconds timeout) override;
  void cancel() override;

  [[nodiscard]] double now() const { return now_; }  ///< seconds
  /// Advances the clock by time spent elsewhere.
  void pass(double seconds) { now_ += seconds; }

 private:
  struct Flight {
    double lands_at = 0;
    Completion completion;
  };
  static bool later(const Flight& a, const Flight& b);

  const int devices_;
  Serve serve_;
  std::vector<Flight> flights_;  // a heap by time of completion
  /// when each busy device becomes free
  std::priority_queue<double, std::vector<double>, std::greater<>> busy_;
  double now_ = 0;
};

}  // namespace warpath
