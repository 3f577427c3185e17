#include "engine/run/evaluation_loop.h"

#include <doctest/doctest.h>

#include <deque>
#include <string>

using namespace warpath;

namespace {

/// All that is under way has arrived, in order, when it is waited for the second time; notes what
/// happens.
class Echo final : public Evaluator {
 public:
  explicit Echo(std::string& story) : story_(story) {}
  [[nodiscard]] int width() const override { return 2; }
  void submit(Submission submission) override {
    story_ += "s" + std::to_string(submission.sequence);
    under_way_.push_back(submission.sequence);
  }
  [[nodiscard]] std::optional<Completion> wait(std::chrono::milliseconds timeout) override {
    if (timeout.count() > 0 && arrived_ == 0) {
      waited_ = !waited_;
      if (!waited_) arrived_ = under_way_.size();
    }
    if (arrived_ == 0) return std::nullopt;
    --arrived_;
    Completion done;
    done.sequence = under_way_.front();
    under_way_.pop_front();
    return done;
  }
  void cancel() override { under_way_.clear(); }

 private:
  std::string& story_;
  std::deque<std::uint64_t> under_way_;
  std::size_t arrived_ = 0;
  bool waited_ = false;
};

/// Wants `most` evaluations, `room` at once.
class Batch final : public EvaluationClient {
 public:
  Batch(std::string& story, std::uint64_t most, std::size_t room)
      : story_(story), most_(most), room_(room) {}
  [[nodiscard]] Turn turn() override {
    if (ends && arrived_ > 0) return Turn::end;
    if (waits > 0) return --waits, Turn::wait;
    return Turn::go;
  }
  [[nodiscard]] std::optional<Submission> next(std::size_t under_way) override {
    if (submitted_ == most_ || under_way >= room_) return std::nullopt;
    Submission out;
    out.sequence = submitted_++;
    return out;
  }
  void arrive(Completion done) override {
    story_ += "a" + std::to_string(done.sequence);
    ++arrived_;
  }
  [[nodiscard]] bool settle() override {
    if (settled_ == arrived_) return false;
    story_ += "!";
    return ++settled_, true;
  }
  [[nodiscard]] bool expects_more() override { return more-- > 0; }
  void before_wait() override { story_ += "|"; }
  void tick() override {
    story_ += ".";
    if (ticks-- == 0) abandon.request_stop();
  }

  int waits = 0, more = 0, ticks = -1;
  bool ends = false;
  std::stop_source abandon;

 private:
  std::string& story_;
  std::uint64_t most_;
  std::size_t room_;
  std::uint64_t submitted_ = 0;
  int arrived_ = 0, settled_ = 0;
};

struct Story {
  std::string text;
  bool finished = false;
};
template <class Prepare>
Story story(std::uint64_t most, std::size_t room, Prepare prepare) {
  Story out;
  Echo evaluator(out.text);
  Batch batch(out.text, most, room);
  prepare(batch);
  out.finished = run_evaluations(evaluator, batch, batch.abandon.get_token());
  return out;
}

}  // namespace

TEST_SUITE("evaluation_loop") {
  TEST_CASE(
      "it fills the room, settles all that came at once before it waits again, and ends when all "
      "is in") {
    const Story all = story(3, 2, [](Batch&) {});
    CHECK(all.finished);
    CHECK(all.text == "s0s1|.|a0s2!a1!|.|a2!");
    CHECK(story(0, 2, [](Batch&) {}).text.empty());
  }

  TEST_CASE("it waits where something outside comes first, and looks again where more may come") {
    CHECK(story(1, 1, [](Batch& b) { b.waits = 2; }).text == "|.|.s0|.|a0!");
    const Story more = story(1, 1, [](Batch& b) { b.more = 2; });
    CHECK(more.finished);
    CHECK(more.text == "s0|.|a0!|.|.");
  }

  TEST_CASE("an end leaves what is under way; abandoned, it stops at once") {
    const Story ended = story(5, 2, [](Batch& b) { b.ends = true; });
    CHECK(ended.finished);
    CHECK(ended.text == "s0s1|.|a0");
    const Story abandoned = story(5, 2, [](Batch& b) { b.ticks = 0; });
    CHECK_FALSE(abandoned.finished);
    CHECK(abandoned.text == "s0s1|.");
  }

  TEST_CASE("one evaluation alone comes back, or was abandoned") {
    std::string text;
    Echo evaluator(text);
    Submission one;
    one.sequence = 7;
    int ticks = 0;
    const auto tick = [&] { ++ticks; };
    CHECK(evaluate_alone(evaluator, one, tick, {}).has_value());
    CHECK(text == "s7");
    CHECK(ticks == 2);
    std::stop_source abandon;
    abandon.request_stop();
    CHECK_FALSE(evaluate_alone(evaluator, one, tick, abandon.get_token()).has_value());
  }
}
