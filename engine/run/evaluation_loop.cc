#include "engine/run/evaluation_loop.h"

#include <chrono>
#include <utility>

namespace warpath {
namespace {

constexpr std::chrono::milliseconds kTick{100};

class Alone final : public EvaluationClient {
 public:
  Alone(Submission submission, const std::function<void()>& tick)
      : submission_(std::move(submission)), tick_(tick) {}
  [[nodiscard]] std::optional<Submission> next(std::size_t) override {
    if (submission_) tick_();
    return std::exchange(submission_, std::nullopt);
  }
  void arrive(Completion done) override { outcome = std::move(done.outcome); }
  void tick() override { tick_(); }

  std::optional<Outcome> outcome;

 private:
  std::optional<Submission> submission_;
  const std::function<void()>& tick_;
};

}  // namespace

bool run_evaluations(Evaluator& evaluator,
                     EvaluationClient& client,
                     const std::stop_token& abandon) {
  using Turn = EvaluationClient::Turn;
  std::size_t under_way = 0;
  while (!abandon.stop_requested()) {
    const Turn turn = client.turn();
    if (turn == Turn::end) return true;
    if (turn == Turn::go) {
      while (std::optional<Submission> submission = client.next(under_way)) {
        evaluator.submit(std::move(*submission));
        ++under_way;
      }
      if (client.settle()) continue;
      if (under_way == 0 && !client.expects_more()) return true;
    }
    std::optional<Completion> done = evaluator.wait(std::chrono::milliseconds{0});
    if (!done) {
      client.before_wait();
      done = evaluator.wait(kTick);
    }
    if (done) {
      --under_way;
      client.arrive(std::move(*done));
    } else {
      client.tick();
    }
  }
  return false;
}

std::optional<Outcome> evaluate_alone(Evaluator& evaluator,
                                      Submission submission,
                                      const std::function<void()>& tick,
                                      const std::stop_token& abandon) {
  Alone client(std::move(submission), tick);
  static_cast<void>(run_evaluations(evaluator, client, abandon));
  return std::move(client.outcome);
}

}  // namespace warpath
