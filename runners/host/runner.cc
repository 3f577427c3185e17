#include "engine/plugin/runner.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/processor_name.h"
#include "engine/plugin/options.h"
#include "runners/host/execute/worker.h"
#include "runners/host/judge/evaluation.h"
#include "runners/host/options.h"
#include "runners/inputs/arguments.h"
#include "runners/worker/sandbox.h"

namespace warpath {
namespace {

using host::Baseline;
using host::Compiler;
using host::EvaluationContext;
using host::Oracle;
using host::WorkerClient;

constexpr std::int64_t kMaxSharedBytes = 227 << 10;
constexpr std::size_t kMaxParameters = 256;

/// CUDA C++ on the CPU: candidates are compiled by the system compiler and run in worker processes.
class HostRunner final : public Runner {
 public:
  explicit HostRunner(const RunnerConfig& config)
      : options_(config.options == nullptr ? HostOptions{} : config.options->of<HostOptions>()),
        program_(config.program.empty() ? "/proc/self/exe" : config.program) {
    if (!config.argument.empty())
      throw bad_input("--runner", "host:" + config.argument, "host without an argument");
    if (options_.min_samples > options_.max_samples) {
      throw bad_input("host.min_samples", std::to_string(options_.min_samples),
                      "at most host.max_samples");
    }
  }

  [[nodiscard]] std::string_view name() const override { return "host"; }
  [[nodiscard]] int lanes() const override { return options_.lanes; }
  [[nodiscard]] DeviceFacts device() const override {
    DeviceFacts facts;
    facts.runner = "host";
    facts.name = processor_name();
    facts.multiprocessors = host::block_threads(options_);
    facts.max_smem_per_block_bytes = kMaxSharedBytes;
    return facts;
  }

  void prepare(const KernelSpec& spec) override {
    const auto workloads = checked_workloads(spec);
    const std::lock_guard lock(mutex_);
    if (!compiler_) compiler_ = std::make_unique<Compiler>(options_);
    auto known = std::make_unique<Known>(spec, *compiler_, options_, program_);
    for (const Workload* const workload : workloads)
      static_cast<void>(known->oracle.kept_inputs(*workload, 0));
    known_[spec.origin + "\n" + spec.name] = std::move(known);
  }

  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    Known* known = nullptr;
    std::unique_ptr<Lane> lane;
    {
      const std::lock_guard lock(mutex_);
      known =
          known_.at(request.spec.origin + "\n" + request.spec.name).get();  // prepare() comes first
      if (!idle_.empty()) {
        lane = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (!lane) lane = std::make_unique<Lane>(program_, options_);
    const EvaluationContext context{.compiler = *compiler_,
                                    .oracle = known->oracle,
                                    .baseline = known->baseline,
                                    .families = known->families,
                                    .worker = lane->candidate,
                                    .baseline_worker = lane->baseline,
                                    .options = options_,
                                    .workloads = workloads_for(request.spec, device())};
    Outcome outcome = host::evaluate_variant(context, request, stop);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(lane));
    return outcome;
  }

 private:
  /// What all evaluations of one spec share.
  struct Known {
    Known(const KernelSpec& spec,
          const Compiler& compiler,
          const HostOptions& options,
          const std::string& program)
        : oracle(spec, compiler, options, program),
          baseline(spec, compiler),
          families(spec, oracle, baseline, options, program) {}
    Oracle oracle;
    Baseline baseline;
    host::Families families;
  };
  /// The processes of one evaluation at a time.
  struct Lane {
    Lane(const std::string& program, const HostOptions& options)
        : candidate(program, options), baseline(program, options) {}
    WorkerClient candidate;
    WorkerClient baseline;
  };

  [[nodiscard]] std::vector<const Workload*> checked_workloads(const KernelSpec& spec) const {
    if (spec.kernel_type != KernelType::cuda) {
      throw bad_input(spec.origin + "/kernel/kernel_type",
                      spec.kernel_type == KernelType::triton ? "triton"
                      : spec.kernel_type == KernelType::ptx  ? "ptx"
                                                             : "multi_kernel",
                      "cuda: the host runner runs nothing else");
    }
    if (kernel_arguments(spec).size() > kMaxParameters) {
      throw bad_input(spec.origin + "/kernel/io/args",
                      std::to_string(kernel_arguments(spec).size()) + " arguments", "at most 256");
    }
    const auto workloads = workloads_for(spec, device());
    if (workloads.empty())
      throw bad_input(spec.origin + "/kernel/workloads", "",
                      "a workload for the host runner (target host or any)");
    for (const Workload* const workload : workloads) {
      const std::int64_t bytes = tensor_bytes(spec, *workload);
      const std::int64_t limit =
          (options_.memory_mib << 20) / 4;  // the worker keeps each tensor and its pristine copy
      if (bytes > limit) {
        throw bad_input(spec.origin + "/kernel/workloads, workload " + workload->name,
                        std::to_string(bytes >> 20) + " MiB of tensors",
                        "at most " + std::to_string(limit >> 20) +
                            " MiB on the host runner (a quarter of host.memory_mib); give the spec "
                            "a smaller workload of target host");
      }
    }
    return workloads;
  }

  HostOptions options_;
  std::string program_;
  std::mutex mutex_;
  std::unique_ptr<Compiler> compiler_;
  std::map<std::string, std::unique_ptr<Known>> known_;  // by origin and name of the spec
  std::vector<std::unique_ptr<Lane>> idle_;
};

/// Which confinement of candidates this kernel does not offer.
std::string confinement_notice() {
  const Sandbox sandbox = probe_sandbox();
  if (sandbox.missing().empty()) return "";
  const std::string held = sandbox.blocks_files()
                               ? "confined by " + sandbox.summary() + " alone"
                               : "not confined: a hostile one has the rights of this user";
  return "candidates on the host runner are " + held + " (this kernel does not offer " +
         sandbox.missing() + ")";
}

}  // namespace

void register_runner_host(RunnerRegistry& registry);
void register_runner_host(RunnerRegistry& registry) {
  registry.add("host",
               "CUDA C++ on the CPU: compiled by the system compiler, run in worker processes, "
               "timed on the CPU",
               [](const RunnerConfig& config) { return std::make_unique<HostRunner>(config); },
               {&HostOptions::kind()},
               {.timings = "CPU timings",
                .automatic_rank = [](const Options&) { return 1; },
                .notice = confinement_notice,
                .workers = {{"host", [](int) { return host::worker_main(); }}}});
}

}  // namespace warpath
