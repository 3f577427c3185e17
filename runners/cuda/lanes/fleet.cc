#include "runners/cuda/lanes/fleet.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>

#include "engine/base/error.h"
#include "engine/base/statistics.h"
#include "runners/cuda/lanes/lane_setups.h"

namespace warpath::cuda {
namespace {

using Clock = std::chrono::steady_clock;

/// Without an answer the next one tries again. The first entry of a workload is the one that
/// counts.
void remember_baseline(Lane& lane, const TrialReply& reply) {
  if (reply.status != Status::ok || !reply.trouble.empty()) return;
  for (const WorkloadTiming& timing : reply.timings)
    lane.baseline_ns.try_emplace(timing.workload, median(timing.samples_ns));
}

void measure_baseline_on(Lane& lane, const SharedProblem& shared, const std::stop_token& stop) {
  Evaluate request;
  request.candidate = shared.problem.baseline;
  request.seed = shared.problem.seed;
  remember_baseline(lane, lane.device.evaluate(request, stop));
}

void place_on(Lane& lane, const SharedProblem& shared) {
  if (lane.problem == &shared) return;
  lane.device.prepare(shared.problem);
  lane.problem = &shared;
  lane.rival_version = 0;
  lane.baseline_ns.clear();
}

}  // namespace

Fleet::Fleet(const CudaOptions& options, const std::string& program, const std::string& all_options)
    : waits_(!options.no_wait) {
  for (const LaneSetup& setup : lane_setups(options, program, all_options))
    lanes_.push_back(std::make_unique<Lane>(setup));
  claim_local_devices(lanes_, waits_);
}

void Fleet::open(const std::function<DeviceTools(const std::string& arch)>& make) {
  // One after the other: the first says which machine code the tools must be.
  hello_ = lanes_.front()->device.open();
  lanes_.front()->claim(hello_.uuid, waits_);
  tools_ = make(hello_.facts.arch);
  for (auto& lane : lanes_) {
    const DeviceHello& hello = lane->device.open();
    // one behind a command of its own says only now which it is
    lane->claim(hello.uuid, waits_);
    if (hello.facts.arch != hello_.facts.arch) {
      throw bad_input("--gpus", lane->device.label() + ": " + hello.facts.arch,
                      "devices of one architecture (" + hello_.facts.arch + ")");
    }
    identities_.push_back(hello.facts.name + " " + hello.uuid + " " +
                          std::to_string(hello.driver_version));
    lane->device.equip(tools_);
    pool_.add(*lane);
  }
}

void Fleet::ready_all(SharedProblem& shared, const std::stop_token& stop) {
  const std::vector<Lane*> lanes = pool_.take_free();
  std::vector<std::future<void>> work;
  for (Lane* const lane : lanes) {
    work.push_back(std::async(std::launch::async, [&, lane] {
      const auto turn = lane->turn();
      place_on(*lane, shared);
      if (lane->baseline_ns.empty()) measure_baseline_on(*lane, shared, stop);
    }));
  }
  std::exception_ptr problem;
  for (auto& one : work) {
    try {
      one.get();
    } catch (...) {
      problem = std::current_exception();
    }
  }
  for (Lane* const lane : lanes) pool_.give_back(lane);
  if (problem) std::rethrow_exception(problem);
}

TrialReply Fleet::measure_on(Lane& lane,
                             SharedProblem& shared,
                             Evaluate request,
                             const std::stop_token& stop) {
  const auto begin = Clock::now();
  const auto turn = lane.turn();
  place_on(lane, shared);
  const bool is_baseline = request.candidate.key == shared.problem.baseline.key;
  if (lane.baseline_ns.empty() && !is_baseline) measure_baseline_on(lane, shared, stop);
  if (lane.device.restarts() != lane.restarts) lane.rival_version = 0;  // it was forgotten
  lane.restarts = lane.device.restarts();
  std::uint64_t version = 0;
  {
    const std::lock_guard lock(shared.mutex);
    version = shared.rival_version;
    if (version != lane.rival_version && !request.versus) request.rival = shared.rival;
  }
  TrialReply reply = lane.device.evaluate(request, stop);
  if (is_baseline) remember_baseline(lane, reply);
  if (!request.versus) lane.rival_version = version;
  if (reply.confirmed_faster) {
    const std::lock_guard lock(shared.mutex);
    shared.rival = request.candidate;
    lane.rival_version = ++shared.rival_version;
  }
  lane.busy_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return reply;
}

TrialReply Fleet::measure(SharedProblem& shared,
                          const Evaluate& request,
                          const std::stop_token& stop,
                          const std::stop_token& withdrawn) {
  constexpr int kTries = 3;
  TrialReply reply;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Lane* const lane = pool_.take(stop, withdrawn);
    if (lane == nullptr) {
      reply.trouble = "stopped";
      return reply;
    }
    try {
      reply = measure_on(*lane, shared, request, stop);
    } catch (const Error& error) {
      if (!lane->device.failed()) {
        pool_.give_back(lane);
        throw;
      }
      pool_.lose(error.what());
      continue;
    }
    for (WorkloadTiming& timing : reply.timings) {
      if (request.versus) break;  // the request is not for pairs with the baseline
      const auto own = lane->baseline_ns.find(timing.workload);
      if (own != lane->baseline_ns.end() && timing.baseline_samples_ns.empty() &&
          timing.cache == "hot")
        timing.baseline_samples_ns = {own->second};
    }
    lane->tell_neighbours(reply);
    reply.diagnosis.facts["device_restarts"] = {static_cast<double>(lane->device.restarts()),
                                                FactSource::measured};
    pool_.give_back(lane);
    if (reply.trouble == "stopped") return reply;
    // A worker may be killed from outside: its candidate is only blamed when a second one dies over
    // it.
    const bool died = reply.status == Status::crashed && reply.poisoned;
    if (reply.trouble.empty() && (!died || attempt > 0)) return reply;
  }
  return reply;
}

void Fleet::beside(const std::function<void(int gpu)>& work, const std::stop_token& stop) {
  Lane* const lane = pool_.take_last(stop);
  if (lane == nullptr) return;
  if (lane->setup.is_local && !lane->setup.argv.empty()) {
    const auto turn = lane->turn();
    work(lane->setup.gpu);
  }
  pool_.give_back(lane);
}

void Fleet::add_figures(std::map<std::string, double>& out) const {
  double busy = 0;
  int restarts = 0;
  for (const auto& lane : lanes_) {
    busy += lane->busy_seconds;
    restarts += lane->device.restarts();
  }
  if (const double wall = pool_.seconds(); wall > 0)
    out["lane_busy"] = busy / (wall * static_cast<double>(lanes_.size()));
  out["devices"] = static_cast<double>(lanes_.size());
  out["worker_restarts"] = restarts;
}

}  // namespace warpath::cuda
