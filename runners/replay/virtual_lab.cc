#include "runners/replay/virtual_lab.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "engine/run/campaign.h"
#include "engine/run/driver.h"
#include "engine/search/search.h"
#include "runners/replay/options.h"
#include "runners/replay/recorded_exchange.h"
#include "runners/replay/virtual_evaluator.h"

namespace warpath {
namespace {

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The recorded time less two standard errors of its repeats.
double low_ns(const Recording::Row& row) {
  Welford w;
  for (const float s : row.samples_ns) w.add(static_cast<double>(s));
  return w.count > 1 ? row.time_ns - 2 * w.deviation() / std::sqrt(static_cast<double>(w.count))
                     : row.time_ns;
}

/// A recording has one time a row: a campaign over it has one workload.
KernelSpec spec_of(const Recording& recording) {
  KernelSpec spec;
  spec.name = recording.name();
  spec.workloads.emplace_back().name = "recorded";
  return spec;
}

Recording::Steps with_late(Recording::Steps steps, const Options& options) {
  steps.late = move_names(options.of<ReplayOptions>().late_moves);
  return steps;
}

class Lab final : private CampaignHost {
 public:
  Lab(const Recording& recording,
      const Options& options,
      const LabSettings& settings,
      const Recording::Steps& steps)
      : recording_(recording),
        options_(options),
        settings_(settings),
        steps_(with_late(steps, options)),
        spec_(spec_of(recording)),
        evaluator_(settings.devices, [this](const Submission& s) { return serve(s); }) {
    options_.run.seed = settings.seed;
  }

  LabRun run() {
    const double began = thread_cpu_seconds();
    if (start()) {
      const auto policy = make_stop(options_);
      const Driver driver{.campaign = *campaign_,
                          .evaluator = evaluator_,
                          .host = *this,
                          .options = options_.search,
                          .policy = policy.get(),
                          .late = late_ ? &*late_ : nullptr};
      static_cast<void>(drive_search(driver));
      static_cast<void>(drive_finals(driver));
      report();
    }
    run_.tuner_seconds = thread_cpu_seconds() - began;
    return std::move(run_);
  }

 private:
  /// The first row that runs is the root, the baseline of all rewards; those that fail before it
  /// are evaluations too. False: there was none in the budget.
  bool start() {
    for (std::uint64_t attempt = 0; run_.evaluations < settings_.budget; ++attempt) {
      const std::uint32_t row = recording_.first_row(options_, settings_.seed, attempt);
      const Recording::Row& first = recording_.rows()[row];
      Outcome outcome = served(first, Rng(settings_.seed, "start", attempt).next());
      evaluator_.pass(outcome.compile_seconds + outcome.run_seconds);
      count(first, outcome);
      if (outcome.status != Status::ok) continue;
      options_.run.budget_builds = static_cast<std::int64_t>(settings_.budget - run_.evaluations);
      walk_ = recording_.walk(row, steps_);
      outcome.binary_key = walk_->code(kRoot);
      campaign_.emplace(*walk_, spec_, device_, options_);
      const std::string problem = campaign_->apply(BaselineEvent{
          .key = walk_->key(NodeId{0}), .outcome = std::move(outcome), .seconds = seconds()});
      WARPATH_CHECK(problem.empty());
      if (!steps_.late.empty())
        late_.emplace(*walk_, *campaign_, evaluator_, options_.of<ReplayOptions>(),
                      options_.search.deterministic);
      return true;
    }
    return false;
  }

  [[nodiscard]] double seconds() const override { return evaluator_.now(); }
  /// Nothing is in flight: the evaluator never waits otherwise.
  void tick() override {
    if (late_) late_->pass();
  }
  [[nodiscard]] Submission submission(NodeId node) override { return {.node = node}; }
  [[nodiscard]] Outcome serve(const Submission& submission) const {
    Outcome out = served(walk_->found(submission.node), submission.seed);
    out.binary_key = walk_->code(submission.node);
    return out;
  }

  [[nodiscard]] Outcome served(const Recording::Row& row, std::uint64_t seed) const {
    Outcome out;
    out.status = row.status;
    out.compile_seconds = row.compile_seconds;
    out.run_seconds = row.run_seconds;
    if (row.status != Status::ok) return out;
    double time_ns = row.time_ns;
    if (settings_.served == Served::draw) {
      Rng rng(seed, "replay");
      time_ns = served_time_ns(row, settings_.served, rng);
    }
    WorkloadTiming& timing = out.timings.emplace_back();
    timing.workload = spec_.workloads.front().name;
    timing.samples_ns = {time_ns};
    return out;
  }

  void apply(std::uint64_t sequence, Outcome outcome) override {
    OutcomeEvent event{
        .sequence = sequence, .outcome = std::move(outcome), .at = 0, .seconds = seconds()};
    const Campaign::Applied applied = campaign_->apply(event, recording_.name());
    count(walk_->found(applied.node), event.outcome);
    const std::string& code = event.outcome.binary_key;
    if (event.outcome.status == Status::ok && !code.empty() &&
        code == walk_->code(walk_->parent(applied.node)))
      ++run_.unchanged;
  }

  void apply(const Finals::Due& due, Outcome outcome) override {
    const auto event = [&](auto e) {
      e.key = walk_->key(due.node);
      e.node = due.node;
      e.outcome = std::move(outcome);
      e.seconds = seconds();
      return e;
    };
    if (due.stage == Stage::final) {
      static_cast<void>(campaign_->apply(event(FinalEvent{}), recording_.name()));
    } else {
      HeatEvent heat = event(HeatEvent{});
      heat.reading = due.reading;
      static_cast<void>(campaign_->apply(heat, recording_.name()));
    }
  }

  void count(const Recording::Row& row, const Outcome& outcome) {
    ++run_.evaluations;
    run_.virtual_seconds = seconds();
    if (outcome.status != Status::ok) {
      ++run_.failed;
      return;
    }
    const double time_ns = outcome.timings.front().samples_ns.front();
    if (best_ns_ != 0 && time_ns >= best_ns_) return;
    best_ns_ = time_ns;
    run_.improvements.push_back({.evaluation = run_.evaluations,
                                 .at_seconds = seconds(),
                                 .time_ns = row.time_ns,
                                 .low_ns = low_ns(row)});
  }

  void report() {
    const Campaign::Standing standing = campaign_->standing();
    const Recording::Row& row = walk_->found(standing.node);
    run_.reported_ns = row.time_ns;
    run_.reported_low_ns = low_ns(row);
    run_.finalists = standing.finalists;
  }

  const Recording& recording_;
  Options options_;
  const LabSettings& settings_;
  const Recording::Steps steps_;
  const KernelSpec spec_;
  const DeviceFacts device_;
  VirtualEvaluator evaluator_;
  std::unique_ptr<Recording::Walk> walk_;
  std::optional<Campaign> campaign_;
  std::optional<RecordedExchange> late_;  // where moves come late
  LabRun run_;
  double best_ns_ = 0;  // as served
};

}  // namespace

double served_time_ns(const Recording::Row& row, Served served, Rng& rng) {
  if (served == Served::mean || row.samples_ns.empty()) return row.time_ns;
  return static_cast<double>(row.samples_ns[rng.below(row.samples_ns.size())]);
}

std::vector<double> LabRun::best_by_evaluation(double worst) const {
  std::vector<double> out(evaluations, worst);
  for (std::size_t i = 0; i < improvements.size(); ++i) {
    const std::uint64_t end =
        i + 1 < improvements.size() ? improvements[i + 1].evaluation - 1 : evaluations;
    for (std::uint64_t e = improvements[i].evaluation; e <= end; ++e)
      out[e - 1] = improvements[i].time_ns;
  }
  return out;
}

LabRun run_lab(const Recording& recording,
               const Options& options,
               const LabSettings& settings,
               const Recording::Steps& steps) {
  check_search_options(options);
  return Lab(recording, options, settings, steps).run();
}

}  // namespace warpath
