#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "engine/plugin/evaluator.h"

namespace warpath {

/// Evaluations on virtual devices, each one at a time, by a virtual clock: an outcome is made when
/// it is submitted and comes back in the order in which the devices would be done. It keeps a
/// device for the seconds that it says it took to compile and to run. One thread only;
/// deterministic.
class VirtualEvaluator final : public Evaluator {
 public:
  using Serve = std::function<Outcome(const Submission&)>;
  VirtualEvaluator(int devices, Serve serve);

  [[nodiscard]] int width() const override { return devices_; }
  void submit(Submission submission) override;
  /// Never waits: the clock goes to the next evaluation that is done; nullopt: none is under way.
  [[nodiscard]] std::optional<Completion> wait(std::chrono::milliseconds timeout) override;
  void cancel() override;

  [[nodiscard]] double now() const { return now_; }  ///< seconds
  /// Something else took the time.
  void pass(double seconds) { now_ += seconds; }

 private:
  struct Flight {
    double lands_at = 0;
    Completion completion;
  };
  static bool later(const Flight& a, const Flight& b);

  const int devices_;
  Serve serve_;
  std::vector<Flight> flights_;  // a heap, the next to land first
  /// when each device is free: as many as are not idle
  std::priority_queue<double, std::vector<double>, std::greater<>> busy_;
  double now_ = 0;
};

}  // namespace warpath
