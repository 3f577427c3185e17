#include "runners/replay/virtual_lab.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "engine/search/search.h"

namespace warpath {
namespace {

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double two_standard_errors(const std::vector<float>& samples) {
  Welford w;
  for (const float s : samples) w.add(static_cast<double>(s));
  return w.count > 1 ? 2 * w.deviation() / std::sqrt(static_cast<double>(w.count)) : 0;
}

class Lab {
 public:
  Lab(const Recording& recording,
      const SearchOptions& options,
      const LabSettings& settings,
      const Recording::Steps& steps)
      : recording_(recording), options_(options), settings_(settings), steps_(steps) {}

  LabRun run() {
    const double began = thread_cpu_seconds();
    start();
    while (run_.evaluations < settings_.budget) {
      fill();
      if (flights_.empty()) break;
      land();
    }
    run_.tuner_seconds = thread_cpu_seconds() - began;
    return std::move(run_);
  }

 private:
  struct Flight {
    double lands_at = 0;
    std::uint64_t sequence = 0;
    NodeId node = kNoNode;
    std::uint32_t row = 0;
    bool operator>(const Flight& other) const {
      return lands_at != other.lands_at ? lands_at > other.lands_at : sequence > other.sequence;
    }
  };

  /// The first row that runs is the root, the baseline of all rewards; those that fail before it
  /// are evaluations too.
  void start() {
    for (std::uint64_t attempt = 0; run_.evaluations < settings_.budget; ++attempt) {
      const std::uint32_t row = recording_.first_row(options_, settings_.seed, attempt);
      now_ += recording_.rows()[row].compile_seconds + recording_.rows()[row].run_seconds;
      const std::optional<double> served = evaluated(row, attempt);
      if (!served) continue;
      base_ns_ = *served;
      walk_ = recording_.walk(row, steps_);
      search_.emplace(*walk_, options_, settings_.seed, walk_->root_key());
      return;
    }
  }

  void fill() {
    while (search_ && flights_.size() < static_cast<std::size_t>(settings_.devices) &&
           run_.evaluations + flights_.size() < settings_.budget) {
      const std::optional<Dispatch> d = search_->next();
      if (!d) {
        if (search_->idle() == Idle::none) continue;
        return;
      }
      walk_->dispatched(*d);
      const std::uint32_t row = walk_->row(d->node);
      const Recording::Row& r = recording_.rows()[row];
      flights_.push({.lands_at = now_ + r.compile_seconds + r.run_seconds,
                     .sequence = d->sequence,
                     .node = d->node,
                     .row = row});
    }
  }

  void land() {
    const Flight flight = flights_.top();
    flights_.pop();
    now_ = flight.lands_at;
    const std::optional<double> served =
        evaluated(flight.row, flight.sequence + (std::uint64_t{1} << 63U));
    const double reward = served ? std::log(base_ns_ / *served) : 0;
    walk_->landed(flight.node, served.has_value(), reward);
    search_->complete(flight.sequence, {.ok = served.has_value(), .reward = reward});
  }

  /// Counts the evaluation of a row; its time if it has one.
  std::optional<double> evaluated(std::uint32_t index, std::uint64_t draw) {
    const Recording::Row& row = recording_.rows()[index];
    ++run_.evaluations;
    run_.virtual_seconds = now_;
    if (row.status != Status::ok) {
      ++run_.failed;
      return std::nullopt;
    }
    Rng rng(settings_.seed, "served", draw);
    const double time = served_time_ns(row, settings_.served, rng);
    if (best_ns_ == 0 || time < best_ns_) {
      best_ns_ = time;
      run_.improvements.push_back({.evaluation = run_.evaluations,
                                   .at_seconds = now_,
                                   .time_ns = row.time_ns,
                                   .low_ns = row.time_ns - two_standard_errors(row.samples_ns)});
    }
    return time;
  }

  const Recording& recording_;
  const SearchOptions& options_;
  const LabSettings& settings_;
  const Recording::Steps& steps_;
  std::unique_ptr<Recording::Walk> walk_;
  std::optional<Search> search_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flights_;
  LabRun run_;
  double now_ = 0;
  double base_ns_ = 0;
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
               const SearchOptions& options,
               const LabSettings& settings,
               const Recording::Steps& steps) {
  check_search_options(options);
  return Lab(recording, options, settings, steps).run();
}

}  // namespace warpath
