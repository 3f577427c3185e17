#include "runners/cuda/measure/evaluation.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "engine/base/stopwatch.h"
#include "runners/cuda/measure/quiet.h"

namespace warpath::cuda {

namespace {

/// Counters take some twenty launches.
constexpr double kMostProfiledNs = 40e6;

double longest_launch_ns(Trial& trial) {
  double longest = 0;
  for (std::size_t w = 0; w < trial.workloads(); ++w)
    longest = std::max(longest, trial.launch_ns(w));
  return longest;
}

}  // namespace

struct Evaluation::Running {
  Trial& trial;
  TrialReply& reply;
};

Evaluation::Evaluation(Bench& bench, Problem& problem)
    : bench_(bench),
      problem_(problem),
      plan_(bench.options(), gates_),
      rival_{problem.setup().baseline, true} {}

bool Evaluation::judge(Running& running, Stage stage) const {
  for (const std::string_view name : plan_.begin_at(stage, GatePhase::device)) {
    const DeviceGate& gate = *gates_.device_gate(name);
    GateResult result;
    Status status = gate.declared().failure;
    const Stopwatch watch;
    try {
      result = gate.judge(running.trial);
    } catch (const CandidateFault& fault) {
      status = fault.status;
      result = {std::string(name),
                is_refusal(status) ? GateResult::Answer::fail : GateResult::Answer::not_run,
                fault.detail};
      running.reply.poisoned = running.reply.poisoned || fault.poisoned;
    }
    if (result.answer == GateResult::Answer::fail && gate.declared().by_times) {
      const CanaryReading reading = bench_.watch();
      constexpr QuietLimits kBehindLaunches{.canary_slower = 0.25};  // they may have heated it
      if (const std::string why = other_work(reading, bench_.canary_rest_ns(), kBehindLaunches);
          !why.empty()) {
        status = Status::not_measured;
        result = {std::string(name), GateResult::Answer::not_run, "the device is busy: " + why};
      }
    }
    const bool failed = result.answer == GateResult::Answer::fail || status == Status::not_measured;
    if (failed) {
      running.reply.status = status;
      running.reply.log = result.detail;
    }
    result.seconds = watch.rounded_seconds();
    running.reply.gates.push_back(std::move(result));
    if (failed) return false;
  }
  return true;
}

bool Evaluation::worth_confirming(Running& running, const TrialRequest& request) const {
  const double ns = running.reply.objective_ns;
  if (request.incumbent_ns <= 0 || ns >= request.incumbent_ns) return false;
  if (confirmed_ns_ > 0 && ns * (1 + bench_.options().confirm_gain) > confirmed_ns_) return false;
  // One confirmation: launches of the candidate and, in pairs, of its rival; at the first one
  // references of other inputs besides.
  constexpr double kLaunches = 130, kRivalLaunches = 50, kOtherwise = 0.3;
  double seconds = kOtherwise + kRivalLaunches * 1e-9 * confirmed_ns_ +
                   (confirming_seconds_ == 0 ? problem_.seconds_of_other_references() : 0);
  for (std::size_t w = 0; w < running.trial.workloads(); ++w)
    seconds += kLaunches * 1e-9 * running.trial.launch_ns(w);
  const bool first = confirming_seconds_ == 0 && seconds <= 1;
  return first || confirming_seconds_ + seconds <=
                      bench_.options().confirm_share * (lane_seconds_ + seconds);
}

/// Ends an evaluation: whoever comes next finds guard zones and inputs as they were made, or
/// another worker. A candidate that was refused before its guard zones were checked, or that wrote
/// outside its tensors in launches after it, is told apart here.
void Evaluation::leave_clean(Running& running, bool good) const {
  if (running.reply.poisoned) return;
  std::string damage;
  try {
    static_cast<void>(gates_.device_gate(kGuardGate)->judge(running.trial));
    if (!good && !problem_.inputs_intact()) damage = "the pristine inputs were overwritten";
  } catch (const CandidateFault& fault) {
    damage = fault.detail;
  }
  if (damage.empty()) return;
  running.reply.poisoned = true;
  if (!good) return;
  running.reply.status = Status::rejected;
  running.reply.log = "at the end: " + damage;
  for (GateResult& result : running.reply.gates) {
    if (result.gate == kGuardGate)
      result = {result.gate, GateResult::Answer::fail, running.reply.log};
  }
}

/// Other processes with a context on the device; their work need not show in every time.
void Evaluation::note_neighbours(Trial& trial) const {
  const auto foreign = bench_.foreign_processes();
  if (!foreign) return;
  trial.diagnosis.facts["foreign_processes"] = {static_cast<double>(foreign->size()),
                                                FactSource::measured};
  if (!foreign->empty())
    trial.diagnosis.facts["foreign_process"] = {static_cast<double>(foreign->front()),
                                                FactSource::measured};
}

/// What the device was like, and how near the first scored workload is to its bound.
void Evaluation::diagnose(Trial& trial) const {
  auto& facts = trial.diagnosis.facts;
  const DeviceState state = bench_.state();
  if (state.sm_clock_mhz)
    facts["sm_clock_mhz"] = {static_cast<double>(*state.sm_clock_mhz), FactSource::measured};
  if (state.throttle_bits)
    facts["throttled"] = {throttled(state) ? 1.0 : 0.0, FactSource::measured};
  facts["launch_floor_ns"] = {bench_.peaks().launch_event_ns, FactSource::measured};
  for (std::size_t w = 0; w < trial.workloads(); ++w) {
    const PlacedWorkload& placed = trial.at(w);
    if (placed.workload->role != WorkloadRole::score || placed.floor_ns <= 0) continue;
    const Sampling& sampling = trial.timing(w);
    const double ns = median(sampling.scored_ns());
    facts["floor_fraction"] = {placed.floor_ns / ns, FactSource::measured};
    for (const auto& [resource, bound] :
         bench_.peaks().bounds_ns(placed.bytes, placed.operations, !placed.cold_scored)) {
      trial.diagnosis.time_bound_ns[resource] = {bound, FactSource::measured};
    }
    return;
  }
}

void Evaluation::report_times(Running& running, TrialReply& reply) const {
  Trial& trial = running.trial;
  for (std::size_t w = 0; w < trial.workloads(); ++w) {
    const Workload& workload = *trial.at(w).workload;
    if (workload.role == WorkloadRole::regress) continue;
    const Sampling& sampling = trial.timing(w);
    const auto add = [&](const std::vector<double>& samples, const char* cache) {
      if (samples.empty()) return;
      WorkloadTiming timing;
      timing.workload = workload.name;
      timing.samples_ns = samples;
      timing.launch = trial.numbers(w);
      timing.cache = cache;
      reply.timings.push_back(std::move(timing));
    };
    // The first entry of a workload is the one that counts.
    const bool cold = sampling.cold_scored;
    const bool paired = !trial.paired_ns[w].empty();
    add(paired ? trial.paired_ns[w] : sampling.scored_ns(), cold ? "cold" : "hot");
    if (paired && !trial.baseline_ns[w].empty()) {
      reply.timings.back().baseline_samples_ns = trial.baseline_ns[w];
    }
    add(cold ? sampling.hot_ns : sampling.cold_ns, cold ? "hot" : "cold");
    reply.diagnosis.facts["launches_per_sample"] = {
        static_cast<double>(sampling.launches_per_sample), FactSource::measured};
  }
}

/// The spec's own kernel, asked for at a later stage, where a launch of it is known to take long:
/// it is judged as at screening, and what it is worth is seen beside every finalist.
bool Evaluation::is_slow_baseline(const TrialRequest& request) const {
  return request.stage != Stage::screening &&
         request.candidate.key == problem_.setup().baseline.key &&
         baseline_launch_ns_ >= Trial::kSteadyNs;
}

/// Names the gates of later stages that a slow baseline is spared.
void Evaluation::leave_out(Running& running, Stage last) const {
  for (const Stage stage : {Stage::confirmation, Stage::final}) {
    if (stage > last) break;
    for (const std::string_view name : plan_.begin_at(stage, GatePhase::device)) {
      running.reply.gates.push_back(
          {std::string(name), GateResult::Answer::not_run,
           "the spec's own kernel is slow: it is judged beside every finalist"});
    }
  }
}

TrialReply Evaluation::run(const TrialRequest& request) {
  const Stopwatch watch;
  TrialReply reply;
  reply.status = Status::ok;
  try {
    // What is reported is a ratio to the baseline, taken side by side, or to what the request
    // names.
    const bool reported = request.stage == Stage::final || request.versus;
    const Rival other =
        request.versus
            ? Rival{.candidate = *request.versus, .is_baseline = false, .is_reported = true}
            : Rival{.candidate = problem_.setup().baseline};
    const bool is_baseline = request.candidate.key == problem_.setup().baseline.key;
    TrialRequest own = request;
    if (is_slow_baseline(request)) own.stage = Stage::screening;
    Trial trial(bench_, problem_, own, reported ? &other : &rival_);
    Running running{trial, reply};
    bool good = judge(running, Stage::screening);
    const bool is_timed = !request.untimed;
    if (good && is_timed) {
      reply.objective_ns = trial.objective_ns();
      if (confirmed_ns_ == 0)
        confirmed_ns_ = request.incumbent_ns > 0 ? request.incumbent_ns : reply.objective_ns;
      const Stopwatch confirming;
      const bool confirms =
          request.stage >= Stage::confirmation || worth_confirming(running, request);
      if (is_baseline) baseline_launch_ns_ = longest_launch_ns(trial);
      const bool light = is_slow_baseline(request);
      if (light) leave_out(running, request.stage);
      if (confirms && !light) good = judge(running, Stage::confirmation);
      if (confirms && request.stage == Stage::screening) {
        confirming_seconds_ += confirming.seconds();
        if (good) confirmed_ns_ = std::min(confirmed_ns_, reply.objective_ns);
      }
      if (good && !light && request.stage >= Stage::final) good = judge(running, Stage::final);
    }
    if (good && is_timed && trial.counters.empty() &&
        (request.profile ||
         (plan_.runs(kCountersGate, request.stage) && longest_launch_ns(trial) < kMostProfiledNs)))
      static_cast<void>(trial.profile());  // without counters the static facts remain
    leave_clean(running, good);
    good = reply.status == Status::ok;
    if (good && is_timed) diagnose(trial);
    if (request.stage == Stage::final || is_baseline) note_neighbours(trial);
    reply.diagnosis = trial.diagnosis;
    if (good && is_timed) {
      report_times(running, reply);
      reply.confirmed_faster = trial.confirmed_faster && !reported;
      if (reply.confirmed_faster) rival_ = {request.candidate, false};
    }
  } catch (const CandidateFault& fault) {  // the modules, or a timing between gates
    reply.status = fault.status;
    reply.log = fault.detail;
    reply.poisoned = reply.poisoned || fault.poisoned;
    reply.gates.push_back({std::string(kLaunchGate), GateResult::Answer::fail, fault.detail});
  }
  reply.seconds = watch.seconds();
  lane_seconds_ += reply.seconds;
  return reply;
}

}  // namespace warpath::cuda
