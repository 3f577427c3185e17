#include "engine/plugin/runner.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "engine/base/detailed_error.h"
#include "engine/base/rng.h"
#include "engine/base/statistics.h"
#include "engine/plugin/options_io.h"
#include "engine/spec/spec_load.h"
#include "runners/cuda/compile/build.h"
#include "runners/cuda/finalists/large_tensors.h"
#include "runners/cuda/finalists/sanitizer.h"
#include "runners/cuda/lanes/lane.h"
#include "runners/cuda/lanes/lane_pool.h"
#include "runners/cuda/lanes/lane_setups.h"
#include "runners/cuda/lanes/outcome_cache.h"
#include "runners/cuda/lanes/tool_turn.h"
#include "runners/cuda/measure/evaluation.h"
#include "runners/cuda/measure/harness.h"
#include "runners/cuda/measure/pace.h"
#include "runners/cuda/measure/peaks.h"
#include "runners/cuda/options.h"

namespace warpath {
namespace {

using namespace cuda;
using Clock = std::chrono::steady_clock;

/// What all evaluations of one spec share.
struct Known {
  KernelSpec spec;
  std::vector<const Workload*> workloads;  ///< of `spec`
  Variant baseline;
  BaselineText baseline_text;
  PrepareProblem problem;
  std::mutex mutex;
  std::condition_variable measured;
  std::map<std::string, std::optional<Outcome>> by_code;  ///< level-1: nullopt while it is measured
  /// of measurements, where they are reused
  Hash128 setup;
  std::optional<Candidate> rival;  ///< best confirmed on any device
  std::uint64_t rival_version = 0;
};

/// CUDA kernels on GPUs: compiled by worker processes side by side, judged and timed by one worker
/// process a device.
class CudaRunner final : public Runner {
 public:
  explicit CudaRunner(const RunnerConfig& config)
      : options_(config.options == nullptr ? CudaOptions{} : config.options->of<CudaOptions>()),
        root_seed_(config.options == nullptr ? config.seed : config.options->run.seed),
        plan_(options_, GateTable()) {
    if (!config.argument.empty()) throw bad_input("--runner cuda", config.argument, "no argument");
    if (options_.gpus == "none") throw bad_input("--gpus", "none", "a device for --runner cuda");
    program_ = config.program.empty() ? "/proc/self/exe" : config.program;
    setups_ = lane_setups(options_, program_, group_to_json(options_).dump());
    for (const LaneSetup& setup : setups_) lanes_.push_back(std::make_unique<Lane>(setup));
    claim_local_devices(lanes_, !options_.no_wait);
    service_ = std::make_unique<CompileService>(
        service_options(options_, program_, static_cast<int>(lanes_.size())));
    if (options_.reuse_measurements && options_.cache_mib > 0) {
      earlier_ = std::make_unique<OutcomeCache>(
          default_cache_folder("outcomes"), static_cast<std::uint64_t>(options_.cache_mib) << 20U);
    }
    open_lanes();
  }

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] DeviceFacts device() const override { return hello_.facts; }
  /// Enough to keep every compiler and every device busy, and to have the next candidate at hand.
  [[nodiscard]] int lanes() const override {
    const auto devices = static_cast<int>(lanes_.size());
    return 3 * service_options(options_, "", devices).workers / 2 + 3 * devices;
  }

  [[nodiscard]] int useful_lanes() const override { return pace_.useful(lanes_.size(), lanes()); }
  [[nodiscard]] std::string platform() const override {
    std::string out;
    for (const std::string& device : devices_) out += (out.empty() ? "" : "; ") + device;
    return out;
  }
  void prepare(const KernelSpec& spec) override;
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override;
  [[nodiscard]] std::map<std::string, double> figures() const override;

 private:
  void open_lanes();
  [[nodiscard]] Hash128 setup_of(std::string spec) const;
  [[nodiscard]] TrialReply measure(Known& known,
                                   const Evaluate& request,
                                   Outcome& outcome,
                                   const std::stop_token& stop);
  void place_on(Lane& lane, Known& known);
  void ready_all(Known& known, const std::stop_token& stop);
  [[nodiscard]] TrialReply measure_on(Lane& lane,
                                      Known& known,
                                      Evaluate request,
                                      const std::stop_token& stop);
  void measure_baseline_on(Lane& lane, Known& known, const std::stop_token& stop);
  static void remember_baseline(Lane& lane, const TrialReply& reply);
  void judge_apart(Known& known,
                   const RunRequest& request,
                   const Candidate& candidate,
                   Outcome& outcome,
                   const std::stop_token& stop);
  [[nodiscard]] bool profiles();

  const CudaOptions options_;
  const std::uint64_t root_seed_;
  const GatePlan plan_;
  std::unique_ptr<CompileService> service_;
  std::unique_ptr<OutcomeCache> earlier_;  // null: nothing is reused
  std::unique_ptr<Builder> builder_;
  std::string program_;
  std::vector<LaneSetup> setups_;
  DeviceTools tools_;
  DeviceHello hello_;
  std::vector<std::string> devices_;  // identity and driver of each lane's
  std::map<std::string, std::unique_ptr<Known>> known_;
  std::vector<std::unique_ptr<Lane>> lanes_;

  LanePool pool_;
  std::mutex mutex_;  // of known_
  std::atomic<std::int64_t> measured_ = 0;
  std::atomic<std::int64_t> merged_ = 0;
  Pace pace_;
  ToolTurn tool_turn_;
  std::mutex large_;  // held by whoever needs most of a device's memory
};

void CudaRunner::open_lanes() {
  // One after the other: the first says which machine code the tools must be.
  hello_ = lanes_.front()->device.open();
  lanes_.front()->claim(hello_.uuid, !options_.no_wait);
  std::future<CodePtr> peaks = std::async(
      std::launch::async, [&] { return service_->compile(peaks_request(hello_.facts.arch)); });
  const CodePtr tools = service_->compile(harness_request(hello_.facts.arch));
  const CodePtr peak_tools = peaks.get();
  if (tools->status != Status::ok) {
    throw environment_error("the harness's own kernels do not compile: " + tools->log);
  }
  tools_ = {.harness_cubin = tools->cubin, .peaks_cubin = peak_tools->cubin};
  for (auto& lane : lanes_) {
    const DeviceHello& hello = lane->device.open();
    // one behind a command of its own says only now which it is
    lane->claim(hello.uuid, !options_.no_wait);
    if (hello.facts.arch != hello_.facts.arch) {
      throw bad_input("--gpus", lane->device.label() + ": " + hello.facts.arch,
                      "devices of one architecture (" + hello_.facts.arch + ")");
    }
    devices_.push_back(hello.facts.name + " " + hello.uuid + " " +
                       std::to_string(hello.driver_version));
    lane->device.equip(tools_);
    pool_.add(*lane);
  }
  builder_ = std::make_unique<Builder>(*service_, plan_, hello_.facts.arch, hello_.limits);
}

void CudaRunner::prepare(const KernelSpec& spec) {
  if (spec.kernel_type != KernelType::cuda) {
    throw bad_input(spec.place("/kernel/kernel_type"), "another type", "cuda");
  }
  auto known = std::make_unique<Known>();
  known->spec = spec;
  known->workloads = workloads_for(known->spec, device());
  if (known->workloads.empty()) {
    throw bad_input(spec.place("/kernel/workloads"), "",
                    "a workload for a GPU (target gpu or any)");
  }
  known->baseline = baseline_variant(known->spec);
  known->baseline_text = builder_->text_of(known->spec, known->baseline, known->workloads);
  const Build own = builder_->build(known->spec, known->baseline, known->workloads, nullptr,
                                    Stage::screening, {});
  known->problem.spec = to_json(known->spec).dump();
  for (const Workload* const workload : known->workloads) {
    known->problem.workloads.push_back(workload->name);
  }
  known->problem.baseline = own.candidate;
  known->problem.seed = Rng(root_seed_, "inputs").next();
  if (const auto reference = reference_variant(known->spec)) {
    const Build build =
        builder_->build(known->spec, *reference, known->workloads, nullptr, Stage::screening, {});
    if (build.candidate.key.empty()) {
      throw DetailedError(bad_input(spec.place("/reference"), "",
                                    "a reference kernel that can be used: " +
                                        build.log.substr(0, build.log.find('\n'))),
                          build.log);
    }
    known->problem.reference = build.candidate;
  }
  if (own.candidate.key.empty()) {
    throw DetailedError(
        bad_input(spec.place("/kernel"), "",
                  "a kernel that can be launched: " + own.log.substr(0, own.log.find('\n'))),
        own.log);
  }
  if (earlier_) known->setup = setup_of(known->problem.spec);
  const std::lock_guard lock(mutex_);
  known_[spec.origin + "\n" + spec.name] = std::move(known);
}

Hash128 CudaRunner::setup_of(std::string spec) const {
  nlohmann::json options = group_to_json(options_);
  for (const char* const name :
       {"gpus", "no_wait", "compile_workers", "cache_mib", "profile_every"})
    options.erase(name);
  std::ostringstream program;
  program << std::ifstream(program_, std::ios::binary).rdbuf();
  return OutcomeCache::identity({.program = program.str(),
                                 .options = options.dump(),
                                 .spec = std::move(spec),
                                 .devices = devices_});
}

void CudaRunner::measure_baseline_on(Lane& lane, Known& known, const std::stop_token& stop) {
  Evaluate request;
  request.candidate = known.problem.baseline;
  request.seed = known.problem.seed;
  remember_baseline(lane, lane.device.evaluate(request, stop));
}

/// Without an answer the next one tries again. The first entry of a workload is the one that
/// counts.
void CudaRunner::remember_baseline(Lane& lane, const TrialReply& reply) {
  if (reply.status != Status::ok || !reply.trouble.empty()) return;
  for (const WorkloadTiming& timing : reply.timings)
    lane.baseline_ns.try_emplace(timing.workload, median(timing.samples_ns));
}

void CudaRunner::place_on(Lane& lane, Known& known) {
  if (lane.problem == &known) return;
  lane.device.prepare(known.problem);
  lane.problem = &known;
  lane.rival_version = 0;
  lane.baseline_ns.clear();
}

/// Readies every idle device at once: when the baseline is asked for, nothing else is under way.
void CudaRunner::ready_all(Known& known, const std::stop_token& stop) {
  const std::vector<Lane*> lanes = pool_.take_free();
  std::vector<std::future<void>> work;
  for (Lane* const lane : lanes) {
    work.push_back(std::async(std::launch::async, [&, lane] {
      const auto turn = lane->turn();
      place_on(*lane, known);
      if (lane->baseline_ns.empty()) measure_baseline_on(*lane, known, stop);
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

TrialReply CudaRunner::measure_on(Lane& lane,
                                  Known& known,
                                  Evaluate request,
                                  const std::stop_token& stop) {
  const auto begin = Clock::now();
  const auto turn = lane.turn();
  place_on(lane, known);
  const bool is_baseline = request.candidate.key == known.problem.baseline.key;
  if (lane.baseline_ns.empty() && !is_baseline) measure_baseline_on(lane, known, stop);
  if (lane.device.restarts() != lane.restarts) lane.rival_version = 0;  // it was forgotten
  lane.restarts = lane.device.restarts();
  std::uint64_t version = 0;
  {
    const std::lock_guard lock(known.mutex);
    version = known.rival_version;
    if (version != lane.rival_version && !request.versus) request.rival = known.rival;
  }
  TrialReply reply = lane.device.evaluate(request, stop);
  if (is_baseline) remember_baseline(lane, reply);
  if (!request.versus) lane.rival_version = version;
  if (reply.confirmed_faster) {
    const std::lock_guard lock(known.mutex);
    known.rival = request.candidate;
    lane.rival_version = ++known.rival_version;
  }
  lane.busy_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return reply;
}

TrialReply CudaRunner::measure(Known& known,
                               const Evaluate& request,
                               Outcome& outcome,
                               const std::stop_token& stop) {
  constexpr int kTries = 3;
  TrialReply reply;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Lane* const lane = pool_.take(stop);
    if (lane == nullptr) {
      reply.trouble = "stopped";
      return reply;
    }
    try {
      reply = measure_on(*lane, known, request, stop);
    } catch (const Error& error) {
      if (!lane->device.failed()) {
        pool_.give_back(lane);
        throw;
      }
      pool_.lose(error.what());
      continue;
    }
    for (WorkloadTiming& timing : reply.timings) {
      if (request.versus) break;  // the baseline's are not what is asked for
      const auto own = lane->baseline_ns.find(timing.workload);
      if (own != lane->baseline_ns.end() && timing.baseline_samples_ns.empty() &&
          timing.cache == "hot")
        timing.baseline_samples_ns = {own->second};
    }
    lane->tell_neighbours(reply);
    outcome.diagnosis->facts["device_restarts"] = {static_cast<double>(lane->device.restarts()),
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

/// Gates of phase `after`. The device is had meanwhile: nothing is timed beside them. Whatever
/// waits to be timed comes first, and candidates that need them by then are put to them side by
/// side.
void CudaRunner::judge_apart(Known& known,
                             const RunRequest& request,
                             const Candidate& candidate,
                             Outcome& outcome,
                             const std::stop_token& stop) {
  const bool is_baseline = request.variant == known.baseline;
  std::vector<GateResult> results;
  for (const std::string_view gate : plan_.run_at(request.stage, GatePhase::after)) {
    results.push_back(
        {std::string(gate), GateResult::Answer::not_run,
         is_baseline ? "it is the spec's own kernel" : "only for devices of this machine"});
  }
  const auto check = [&](int gpu) {
    const FinalistSetup setup{.program = program_,
                              .gpu = gpu,
                              .options = options_,
                              .tools = tools_,
                              .builder = *builder_,
                              .spec = known.spec,
                              .problem = known.problem,
                              .variant = request.variant,
                              .candidate = candidate,
                              .timings = outcome.timings,
                              .stop = stop};
    for (GateResult& result : results) {
      if (result.gate == kSanitizerGate) result = cuda::sanitize(setup);
      if (result.gate != kLargeTensorsGate) continue;
      const std::lock_guard lock(large_);
      result = check_large_tensors(setup);
    }
  };
  if (!is_baseline && !results.empty()) {
    tool_turn_.run(check, [&](const ToolTurn::Work& all) {
      Lane* const lane = pool_.take_last(stop);
      if (lane == nullptr) return;
      if (lane->setup.is_local && !lane->setup.argv.empty()) {
        const auto turn = lane->turn();
        all(lane->setup.gpu);
      }
      pool_.give_back(lane);
    });
  }
  for (GateResult& result : results) {
    if (stop.stop_requested() && result.answer == GateResult::Answer::not_run)
      result.detail = "stopped";
    if (result.answer == GateResult::Answer::fail && outcome.status == Status::ok) {
      outcome.status = GateTable().find(result.gate)->failure;
      outcome.log = result.detail;
      outcome.timings.clear();
    }
    outcome.verdict.gates.push_back(std::move(result));
  }
}

bool CudaRunner::profiles() {
  return options_.profile_every > 0 && measured_++ % options_.profile_every == 0;
}

Outcome CudaRunner::run(const RunRequest& request, std::stop_token stop) {
  Known* known = nullptr;
  {
    const std::lock_guard lock(mutex_);
    // prepare() comes first
    known = known_.at(request.spec.origin + "\n" + request.spec.name).get();
  }
  const bool is_baseline = request.variant == known->baseline;
  const auto begin = Clock::now();
  Build build = builder_->build(known->spec, request.variant, known->workloads,
                                is_baseline ? nullptr : &known->baseline_text, request.stage, stop);
  pace_.built(std::chrono::duration<double>(Clock::now() - begin).count());
  Outcome outcome;
  outcome.status = build.status;
  outcome.log = build.log;
  outcome.verdict.gates = build.gates;
  outcome.diagnosis = build.diagnosis;
  outcome.compile_seconds = build.compile_seconds;
  outcome.binary_key = build.candidate.key;
  if (build.status != Status::ok) {
    plan_.complete(request.stage, outcome);
    return outcome;
  }
  const bool merges =
      request.stage == Stage::screening && !is_baseline && request.against == nullptr;
  const bool profiled = profiles();
  if (merges) {
    std::unique_lock lock(known->mutex);
    const auto [it, first] = known->by_code.try_emplace(build.candidate.key);
    if (!first) {
      known->measured.wait(lock, [&] { return it->second.has_value(); });
      ++merged_;
      Outcome same = *it->second;
      same.compile_seconds = build.compile_seconds;
      same.run_seconds = 0;
      return same;
    }
  }
  const auto publish = [&] {
    if (request.stage != Stage::screening || request.against != nullptr) return;
    const std::lock_guard lock(known->mutex);
    known->by_code[build.candidate.key] = outcome;
    known->measured.notify_all();
  };
  if (merges && !profiled && earlier_) {
    if (auto found = earlier_->find(known->setup, build.candidate.key)) {
      outcome = *std::move(found);
      outcome.compile_seconds = build.compile_seconds;
      outcome.run_seconds = 0;
      publish();
      return outcome;
    }
  }
  Evaluate evaluate{.candidate = build.candidate,
                    .stage = request.stage,
                    .seed = request.seed,
                    .incumbent_ns = is_baseline ? 0 : request.incumbent_ns,
                    .profile = profiled,
                    .rival = std::nullopt};
  evaluate.searched_ns = is_baseline ? 0 : request.searched_ns;
  if (request.against != nullptr) {
    Build against = builder_->build(known->spec, *request.against, known->workloads,
                                    &known->baseline_text, Stage::screening, stop);
    if (against.status != Status::ok) {
      outcome.status = Status::crashed;
      outcome.log = "what it is to be timed in turn with: " + against.log;
      plan_.complete(request.stage, outcome);
      return outcome;
    }
    evaluate.rival = std::move(against.candidate);
    evaluate.versus = true;
  }
  TrialReply reply;
  try {
    if (is_baseline && lanes_.size() > 1) ready_all(*known, stop);
    reply = measure(*known, evaluate, outcome, stop);
    if (!reply.trouble.empty() && reply.trouble != "stopped")
      throw environment_error(reply.trouble);
  } catch (...) {
    outcome.status = Status::crashed;
    outcome.log = "the device failed";
    publish();  // others may wait for the same code
    throw;
  }
  outcome.status = reply.trouble.empty() ? reply.status : Status::crashed;
  if (!reply.log.empty()) outcome.log = reply.log;
  outcome.verdict.gates.insert(outcome.verdict.gates.end(), reply.gates.begin(), reply.gates.end());
  if (outcome.status == Status::ok) outcome.timings = reply.timings;
  outcome.run_seconds = reply.seconds;
  pace_.measured(reply.seconds);
  if (outcome.status == Status::ok) judge_apart(*known, request, build.candidate, outcome, stop);
  for (const auto& [fact, value] : reply.diagnosis.facts) outcome.diagnosis->facts[fact] = value;
  for (const auto& [fact, value] : reply.diagnosis.time_bound_ns)
    outcome.diagnosis->time_bound_ns[fact] = value;
  plan_.complete(request.stage, outcome);
  if (merges && earlier_) earlier_->store(known->setup, outcome);
  publish();
  return outcome;
}

std::map<std::string, double> CudaRunner::figures() const {
  std::map<std::string, double> out;
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
  out["merged_by_code"] = static_cast<double>(merged_);
  const CompileServiceCounts counts = service_->counts();
  out["compiled"] = static_cast<double>(counts.compiled);
  if (earlier_) out["reused_measurements"] = static_cast<double>(earlier_->counts().hits);
  out["code_cache_hits"] = static_cast<double>(counts.memory_hits + counts.disk_hits);
  out["compile_seconds"] = counts.compile_seconds;
  return out;
}

}  // namespace

void register_runner_cuda(RunnerRegistry& registry);
void register_runner_cuda(RunnerRegistry& registry) {
  registry.add("cuda",
               "CUDA C++ on GPUs: compiled by NVRTC in worker processes, judged and timed by one "
               "worker process a device",
               [](const RunnerConfig& config) { return std::make_unique<CudaRunner>(config); },
               {&CudaOptions::kind()});
}

}  // namespace warpath
