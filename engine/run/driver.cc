#include "engine/run/driver.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/run/evaluation_loop.h"
#include "engine/run/late_exchange.h"

namespace warpath {
namespace {

std::size_t lanes(const Driver& driver) {
  const int lanes =
      driver.options.in_flight > 0 ? driver.options.in_flight : driver.evaluator.useful();
  return static_cast<std::size_t>(std::max(lanes, 1));
}

class SearchClient final : public EvaluationClient {
 public:
  explicit SearchClient(const Driver& driver)
      : driver_(driver), campaign_(driver.campaign), deterministic_(driver.options.deterministic) {}

  [[nodiscard]] Turn turn() override {
    const Progress now = campaign_.progress(driver_.host.seconds());
    Progress timeless = now;
    timeless.seconds = timeless.device_seconds = 0;
    const bool ended = !reason(timeless).empty();
    end_.interrupted = driver_.stop.stop_requested();
    end_.reason = reason(now);
    const bool was_held =
        std::exchange(held_, end_.interrupted || (!ended && !end_.reason.empty()));
    if (held_ && !was_held) driver_.evaluator.withdraw();
    goes_on_ = !ended && !held_;
    // selecting without their answers would give a different search
    if (held_ && deterministic_ && driver_.late != nullptr && driver_.late->has_proposers())
      return Turn::end;
    if (goes_on_ && !exchange(timeless)) return Turn::wait;
    if (!ended && (!held_ || deterministic_)) select(timeless);
    return Turn::go;
  }

  [[nodiscard]] std::optional<Submission> next(std::size_t under_way) override {
    if (held_ || under_way >= lanes(driver_)) return std::nullopt;
    const auto waiting =
        std::ranges::lower_bound(campaign_.pending(), next_, {}, &Campaign::Pending::sequence);
    if (waiting == campaign_.pending().end()) return std::nullopt;
    next_ = waiting->sequence + 1;
    Submission out = driver_.host.submission(waiting->node);
    out.sequence = waiting->sequence;
    out.seed = campaign_.input_seed(waiting->sequence);
    out.incumbent_ns = waiting->incumbent_ns;
    return out;
  }

  /// What was withdrawn stays in flight, for a resume.
  void arrive(Completion done) override {
    if (!done.withdrawn) ready_.emplace(done.sequence, std::move(done.outcome));
  }

  [[nodiscard]] bool settle() override {
    if (goes_on_ && driver_.late != nullptr && driver_.late->has_offers()) return true;
    if (ready_.empty()) return false;
    const auto due =
        deterministic_ ? ready_.find(campaign_.pending().front().sequence) : ready_.begin();
    if (due == ready_.end()) return false;
    const std::uint64_t sequence = due->first;
    Outcome outcome = std::move(due->second);
    ready_.erase(due);
    driver_.host.apply(sequence, std::move(outcome));
    return true;
  }

  /// Also takes a last look for answers that arrived when nothing was waited for any more.
  [[nodiscard]] bool expects_more() override {
    if (!goes_on_ || driver_.late == nullptr) return false;
    return driver_.late->waiting() || (exchange(campaign_.progress(0)) && driver_.late->arrived());
  }

  void before_wait() override { driver_.host.before_wait(); }
  void tick() override { driver_.host.tick(); }

  [[nodiscard]] SearchEnd end(bool abandoned) {
    end_.interrupted = end_.interrupted || abandoned;
    if (end_.interrupted) end_.reason = "interrupted";
    if (end_.reason.empty())
      end_.reason = driver_.policy == nullptr ? "told candidates only" : "nothing left to try";
    return end_;
  }

 private:
  /// Proposals from a person are evaluated even beyond the run's limits.
  [[nodiscard]] std::string_view reason(const Progress& now) const {
    return driver_.policy == nullptr ? std::string_view() : driver_.policy->reason(now);
  }
  [[nodiscard]] std::uint64_t remaining(const Progress& now, std::uint64_t dispatched) const {
    return driver_.policy == nullptr ? UINT64_MAX : driver_.policy->remaining(now, dispatched);
  }
  [[nodiscard]] bool exchange(const Progress& now) const {
    return driver_.late == nullptr || driver_.late->exchange([&](std::uint64_t dispatched) {
      return remaining(now, dispatched);
    });
  }

  void select(const Progress& now) {
    const std::size_t window =
        deterministic_ ? static_cast<std::size_t>(driver_.options.window) : lanes(driver_);
    while (campaign_.pending().size() < window && campaign_.may_select() &&
           remaining(now, campaign_.dispatched()) > 0) {
      const std::uint64_t sequence = campaign_.dispatched();
      const bool only_told = driver_.policy == nullptr;
      const Campaign::Pending* const chosen =
          only_told ? campaign_.select_first() : campaign_.select();
      if (chosen != nullptr) {
        driver_.host.on_dispatch(*chosen);
      } else if (only_told) {
        return;
      } else {
        driver_.host.on_idle(sequence);
      }
      // their answers come before the next selection, however the log is cut
      if (deterministic_ && driver_.late != nullptr && driver_.late->has_offers()) return;
    }
  }

  const Driver& driver_;
  Campaign& campaign_;
  const bool deterministic_;
  bool held_ = false;     // nothing more is submitted
  bool goes_on_ = false;  // neither held nor ended
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Outcome> ready_;  // finished, not yet due
  SearchEnd end_;
};

class FinalsClient final : public EvaluationClient {
 public:
  explicit FinalsClient(const Driver& driver) : driver_(driver), campaign_(driver.campaign) {}

  [[nodiscard]] Turn turn() override {
    for (;;) {
      due_ = campaign_.finals().due();
      decided = due_.empty() && begun_.empty();
      if (decided) return Turn::end;
      auto first = begun_.empty() ? decltype(ready_)::node_type() : ready_.extract(begun_.front());
      if (!first) return Turn::go;
      driver_.host.apply(begun_.front(), std::move(first.mapped()));
      begun_.pop_front();
    }
  }

  [[nodiscard]] std::optional<Submission> next(std::size_t under_way) override {
    if (driver_.stop.stop_requested() || under_way >= lanes(driver_)) return std::nullopt;
    const auto due = std::ranges::find_if(
        due_, [&](const Finals::Due& d) { return std::ranges::find(begun_, d) == begun_.end(); });
    if (due == due_.end() ||
        (due->stage == Stage::final && begun_.size() >= campaign_.finals().room()))
      return std::nullopt;
    const double searched = due->node == NodeId{0} ? 0 : campaign_.speedup(due->node);
    Submission out = driver_.host.submission(due->node);
    out.sequence = sequence_;
    out.seed = campaign_.final_seed(*due);
    out.stage = due->stage;
    out.searched_ns =
        searched > 0 && due->stage == Stage::final ? 1e6 * campaign_.baseline_ms() / searched : 0;
    if (due->stage == Stage::final) out.seconds_left = campaign_.finals().seconds_left();
    under_way_.emplace(sequence_++, *due);
    begun_.push_back(*due);
    return out;
  }

  void arrive(Completion done) override {
    const auto which = under_way_.extract(done.sequence);
    ready_.emplace(which.mapped(), std::move(done.outcome));
  }
  [[nodiscard]] bool settle() override {
    return !begun_.empty() && ready_.contains(begun_.front());
  }
  void before_wait() override { driver_.host.before_wait(); }
  void tick() override { driver_.host.tick(); }

  bool decided = false;

 private:
  const Driver& driver_;
  Campaign& campaign_;
  std::vector<Finals::Due> due_;
  std::map<std::uint64_t, Finals::Due> under_way_;
  std::map<Finals::Due, Outcome> ready_;
  // and not applied; an evaluation that was begun counts even if it ends after the time limit
  std::deque<Finals::Due> begun_;
  std::uint64_t sequence_ = 0;
};

}  // namespace

SearchEnd drive_search(const Driver& driver) {
  SearchClient client(driver);
  return client.end(!run_evaluations(driver.evaluator, client, driver.abandon));
}

bool drive_finals(const Driver& driver) {
  FinalsClient client(driver);
  static_cast<void>(run_evaluations(driver.evaluator, client, driver.abandon));
  return client.decided;
}

}  // namespace warpath
