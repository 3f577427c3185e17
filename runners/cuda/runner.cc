#include "engine/plugin/runner.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
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
#include "engine/base/stopwatch.h"
#include "engine/plugin/options_io.h"
#include "engine/spec/spec_load.h"
#include "runners/cuda/choice.h"
#include "runners/cuda/compile/build.h"
#include "runners/cuda/compile/compile_worker.h"
#include "runners/cuda/finalists/finalist.h"
#include "runners/cuda/lanes/device_worker.h"
#include "runners/cuda/lanes/fleet.h"
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

/// Of the pairs of a finalist, however little time is left.
constexpr double kLeastPairsSeconds = 1;

/// What all evaluations of one spec share.
struct Known {
  KernelSpec spec;
  std::vector<const Workload*> workloads;  ///< of `spec`
  Variant baseline;
  BaselineText baseline_text;
  SharedProblem shared;
  std::mutex mutex;  ///< of the next two
  std::condition_variable measured;
  std::map<std::string, std::optional<Outcome>> by_code;  ///< level-1: nullopt while it is measured
  /// of measurements, where they are reused
  Hash128 setup;
};

/// CUDA kernels on GPUs: compiled by worker processes side by side, judged and timed by one worker
/// process a device.
class CudaRunner final : public Runner {
 public:
  explicit CudaRunner(const RunnerConfig& config)
      : options_(config.options == nullptr ? CudaOptions{} : config.options->of<CudaOptions>()),
        root_seed_(config.options == nullptr ? config.seed : config.options->run.seed),
        plan_(options_, gates_),
        program_(config.program.empty() ? "/proc/self/exe" : config.program) {
    if (!config.argument.empty()) throw bad_input("--runner cuda", config.argument, "no argument");
    if (options_.gpus == "none") throw bad_input("--gpus", "none", "a device for --runner cuda");
    fleet_ = std::make_unique<Fleet>(options_, program_, group_to_json(options_).dump());
    service_ = std::make_unique<CompileService>(
        service_options(options_, program_, static_cast<int>(fleet_->size())));
    if (const std::string& problem = service_->cache_problem(); !problem.empty())
      std::fprintf(stderr, "warpath: %s; every kernel is compiled again\n", problem.c_str());
    if (options_.reuse_measurements && options_.cache_mib > 0) {
      earlier_ = std::make_unique<OutcomeCache>(
          default_cache_folder("outcomes"), static_cast<std::uint64_t>(options_.cache_mib) << 20U);
    }
    fleet_->open([&](const std::string& arch) { return compiled_tools(arch); });
    builder_ = std::make_unique<Builder>(*service_, plan_, device().arch, fleet_->hello().limits);
  }

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] DeviceFacts device() const override { return fleet_->hello().facts; }
  /// Enough to keep every compiler and every device busy, and to have the next candidate at hand.
  [[nodiscard]] int lanes() const override {
    const auto devices = static_cast<int>(fleet_->size());
    return 3 * service_options(options_, "", devices).workers / 2 + 3 * devices;
  }

  [[nodiscard]] int useful_lanes() const override { return pace_.useful(fleet_->size(), lanes()); }
  [[nodiscard]] std::string platform() const override {
    std::string out;
    for (const std::string& device : fleet_->identities())
      out += (out.empty() ? "" : "; ") + device;
    return out;
  }
  [[nodiscard]] std::string platform_kind() const override {
    return "driver " + std::to_string(fleet_->hello().driver_version);
  }
  [[nodiscard]] bool drafts() const override { return true; }
  [[nodiscard]] std::shared_ptr<const Diagnosis> draft(const KernelSpec& spec,
                                                       const Variant& variant,
                                                       std::stop_token stop) override;
  void prepare(const KernelSpec& spec) override;
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override;
  [[nodiscard]] std::map<std::string, double> figures() const override;

 private:
  [[nodiscard]] Known& known_of(const KernelSpec& spec);
  [[nodiscard]] DeviceTools compiled_tools(const std::string& arch);
  [[nodiscard]] Hash128 setup_of(std::string spec) const;
  void judge_apart(Known& known,
                   const RunRequest& request,
                   const Candidate& candidate,
                   const Stopwatch& watch,
                   Outcome& outcome,
                   const std::stop_token& stop);
  [[nodiscard]] bool profiles();

  const CudaOptions options_;
  const std::uint64_t root_seed_;
  const GateTable gates_;
  const GatePlan plan_;
  const std::string program_;
  std::unique_ptr<Fleet> fleet_;
  std::unique_ptr<CompileService> service_;
  std::unique_ptr<OutcomeCache> earlier_;  // null: nothing is reused
  std::unique_ptr<Builder> builder_;
  std::map<std::string, std::unique_ptr<Known>> known_;
  std::mutex mutex_;  // of known_
  std::atomic<std::int64_t> measured_ = 0;
  std::atomic<std::int64_t> merged_ = 0;
  Pace pace_;
  ToolTurn tool_turn_;
};

DeviceTools CudaRunner::compiled_tools(const std::string& arch) {
  std::future<CodePtr> peaks =
      std::async(std::launch::async, [&] { return service_->compile(peaks_request(arch)); });
  const CodePtr tools = service_->compile(harness_request(arch));
  const CodePtr peak_tools = peaks.get();
  if (tools->status != Status::ok) {
    throw environment_error("the harness's own kernels do not compile: " + tools->log);
  }
  return {.harness_cubin = tools->cubin, .peaks_cubin = peak_tools->cubin};
}

void CudaRunner::prepare(const KernelSpec& spec) {
  if (spec.kernel_type == KernelType::multi_kernel) {
    throw bad_input(spec.place("/kernel/kernel_type"), "multi_kernel", "cuda, triton or ptx");
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
  known->shared.problem.spec = to_json(known->spec).dump();
  for (const Workload* const workload : known->workloads) {
    known->shared.problem.workloads.push_back(workload->name);
  }
  known->shared.problem.baseline = own.candidate;
  known->shared.problem.seed = Rng(root_seed_, "inputs").next();
  if (const auto reference = reference_variant(known->spec)) {
    const Build build =
        builder_->build(known->spec, *reference, known->workloads, nullptr, Stage::screening, {});
    if (build.candidate.key.empty()) {
      throw DetailedError(bad_input(spec.place("/reference"), "",
                                    "a reference kernel that can be used: " +
                                        build.log.substr(0, build.log.find('\n'))),
                          build.log);
    }
    known->shared.problem.reference = build.candidate;
  }
  if (own.candidate.key.empty()) {
    throw DetailedError(
        bad_input(spec.place("/kernel"), "",
                  "a kernel that can be launched: " + own.log.substr(0, own.log.find('\n'))),
        own.log);
  }
  if (earlier_) known->setup = setup_of(known->shared.problem.spec);
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
                                 .devices = fleet_->identities()});
}

/// Gates of phase `after`. The device is had meanwhile: nothing is timed beside them. Whatever
/// waits to be timed comes first, and candidates that need them by then are put to them side by
/// side. `watch`: begun with the evaluation.
void CudaRunner::judge_apart(Known& known,
                             const RunRequest& request,
                             const Candidate& candidate,
                             const Stopwatch& watch,
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
    FinalistSetup setup{.program = program_,
                        .gpu = gpu,
                        .options = options_,
                        .tools = fleet_->tools(),
                        .builder = *builder_,
                        .spec = known.spec,
                        .problem = known.shared.problem,
                        .variant = request.variant,
                        .candidate = candidate,
                        .timings = outcome.timings,
                        .stop = stop};
    for (GateResult& result : results) {
      const Stopwatch own;
      setup.seconds = request.seconds_left - watch.seconds();
      result = gates_.finalist_gate(result.gate)->judge(setup);
      result.seconds = own.rounded_seconds();
    }
  };
  if (!is_baseline && !results.empty()) {
    tool_turn_.run(check, [&](const ToolTurn::Work& all) { fleet_->beside(all, stop); });
  }
  for (GateResult& result : results) {
    if (stop.stop_requested() && result.answer == GateResult::Answer::not_run)
      result.detail = "stopped";
    if (result.answer == GateResult::Answer::fail && outcome.status == Status::ok) {
      outcome.status = gates_.find(result.gate)->failure;
      outcome.log = result.detail;
      outcome.timings.clear();
    }
    outcome.verdict.gates.push_back(std::move(result));
  }
}

bool CudaRunner::profiles() {
  return options_.profile_every > 0 && measured_++ % options_.profile_every == 0;
}

Known& CudaRunner::known_of(const KernelSpec& spec) {
  const std::lock_guard lock(mutex_);
  return *known_.at(spec.origin + "\n" + spec.name);  // prepare() comes first
}

std::shared_ptr<const Diagnosis> CudaRunner::draft(const KernelSpec& spec,
                                                   const Variant& variant,
                                                   std::stop_token stop) {
  const Known& known = known_of(spec);
  Build build = builder_->build(known.spec, variant, known.workloads, &known.baseline_text,
                                Stage::screening, stop);
  if (build.status != Status::ok) return nullptr;
  return std::make_shared<const Diagnosis>(std::move(build.diagnosis));
}

/// The result of the candidate with the same code, waited for while it is measured; nullopt: the
/// caller is to measure it, and to publish that. One that could not be measured is measured again.
std::optional<Outcome> result_of_same(Known& known, const Build& build) {
  std::unique_lock lock(known.mutex);
  const auto [it, first] = known.by_code.try_emplace(build.candidate.key);
  if (first) return std::nullopt;
  known.measured.wait(lock, [&] { return it->second.has_value(); });
  if (it->second->status == Status::not_measured) {
    it->second.reset();
    return std::nullopt;
  }
  Outcome same = *it->second;
  same.compile_seconds = build.compile_seconds;
  same.run_seconds = 0;
  return same;
}

Outcome CudaRunner::run(const RunRequest& request, std::stop_token stop) {
  Known* const known = &known_of(request.spec);
  const bool is_baseline = request.variant == known->baseline;
  const Stopwatch watch;
  Build build = builder_->build(known->spec, request.variant, known->workloads,
                                is_baseline ? nullptr : &known->baseline_text, request.stage, stop);
  pace_.built(watch.seconds());
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
    if (std::optional<Outcome> same = result_of_same(*known, build)) {
      ++merged_;
      return *std::move(same);
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
  // A quarter of the time that is left: a last attempt begins before it is over, and the other
  // gates need the rest.
  if (std::isfinite(request.seconds_left))
    evaluate.pairs_seconds = std::max(kLeastPairsSeconds, request.seconds_left / 4);
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
    if (is_baseline && fleet_->size() > 1) fleet_->ready_all(known->shared, stop);
    reply = fleet_->measure(known->shared, evaluate, stop, request.withdrawn);
    if (!reply.trouble.empty() && reply.trouble != "stopped")
      throw environment_error(reply.trouble);
  } catch (...) {
    outcome.status = Status::crashed;
    outcome.log = "the device failed";
    publish();  // others may wait for the same code
    throw;
  }
  if (!reply.trouble.empty() && request.withdrawn.stop_requested()) {
    outcome.status = Status::not_measured;
    publish();
    return outcome;
  }
  outcome.status = reply.trouble.empty() ? reply.status : Status::crashed;
  if (!reply.log.empty()) outcome.log = reply.log;
  outcome.verdict.gates.insert(outcome.verdict.gates.end(), reply.gates.begin(), reply.gates.end());
  if (outcome.status == Status::ok) outcome.timings = reply.timings;
  outcome.run_seconds = reply.seconds;
  pace_.measured(reply.seconds);
  if (outcome.status == Status::ok)
    judge_apart(*known, request, build.candidate, watch, outcome, stop);
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
  fleet_->add_figures(out);
  out["merged_by_code"] = static_cast<double>(merged_);
  const CompileServiceCounts counts = service_->counts();
  out["compiled"] = static_cast<double>(counts.compiled);
  if (earlier_) out["reused_measurements"] = static_cast<double>(earlier_->counts().hits);
  out["code_cache_hits"] = static_cast<double>(counts.memory_hits + counts.disk_hits);
  out["compile_seconds"] = counts.compile_seconds;
  return out;
}

void check_options(const Options& options) {
  check_devices(options);
  const GatePlan plan(options.of<CudaOptions>(), GateTable());
}

}  // namespace

void register_runner_cuda(RunnerRegistry& registry);
void register_runner_cuda(RunnerRegistry& registry) {
  RunnerTraits traits = runner_traits();
  traits.workers = {
      {"compile", [](int) { return compile_worker_main(STDIN_FILENO, STDOUT_FILENO); }},
      {"device", [](int gpu) { return device_worker_main(STDIN_FILENO, STDOUT_FILENO, gpu); }}};
  registry.add(
      "cuda",
      "CUDA C++ on GPUs: compiled by NVRTC in worker processes, judged and timed by one "
      "worker process a device",
      [](const RunnerConfig& config) { return std::make_unique<CudaRunner>(config); },
      {&CudaOptions::kind()}, std::move(traits), check_options);
}

}  // namespace warpath
