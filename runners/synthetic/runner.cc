#include "runners/synthetic/runner.h"

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "register_runners.h"
#include "runners/synthetic/options.h"

namespace warpath {
namespace {

constexpr int kSamples = 7;

/// Samples, status and delay are functions of (seed, key, evaluation seed) alone. Thread-safe.
class SyntheticRunner final : public Runner {
 public:
  explicit SyntheticRunner(const RunnerConfig& config)
      : options_(with_preset(
            config.options->of<SyntheticOptions>(), config.argument, "--runner synthetic")),
        landscape_(options_, config.seed) {}

  [[nodiscard]] std::string_view name() const override { return "synthetic"; }
  [[nodiscard]] DeviceFacts device() const override {
    return {.runner = "synthetic", .name = "synthetic landscape", .arch = "", .multiprocessors = 1};
  }
  [[nodiscard]] int lanes() const override { return options_.lanes; }
  [[nodiscard]] bool only_tunables() const override { return true; }
  [[nodiscard]] std::optional<KernelSpec> substitute(const KernelSpec& spec) const override {
    return landscape_spec(spec, landscape_);
  }
  void prepare(const KernelSpec&) override {}

  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    Rng rng(request.seed, "synthetic", mix64(request.key.high) ^ request.key.low);
    const double seconds = options_.delay_ms * 1e-3 * (0.5 + rng.uniform());
    sleep(seconds, std::move(stop));
    const std::optional<Landscape::Point> point = landscape_point(landscape_, request.variant);
    Outcome outcome;
    outcome.status = point ? landscape_.status(*point) : Status::not_applicable;
    outcome.run_seconds = seconds;
    using enum GateResult::Answer;
    const bool ok = outcome.status == Status::ok;
    outcome.verdict.gates.push_back(
        {.gate = "landscape",
         .answer = ok ? pass : fail,
         .detail = ok ? "" : std::string(warpath::name(outcome.status))});
    if (!ok) {
      outcome.log = "this point of the landscape fails";
      return outcome;
    }
    WorkloadTiming timing{
        .workload = "default", .samples_ns = {}, .launch = {}, .cache = "synthetic"};
    const double time_ns = landscape_.time_ns(*point);
    for (int i = 0; i < kSamples; ++i)
      timing.samples_ns.push_back(time_ns * std::exp(options_.noise * rng.normal()));
    outcome.timings.push_back(std::move(timing));
    return outcome;
  }

 private:
  /// Ends early when a stop is requested.
  static void sleep(double seconds, std::stop_token stop) {
    if (seconds <= 0) return;
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, std::move(stop), std::chrono::duration<double>(seconds),
                   [] { return false; });
  }

  SyntheticOptions options_;
  Landscape landscape_;
};

}  // namespace

KernelSpec landscape_spec(const KernelSpec& spec, const Landscape& landscape) {
  KernelSpec out;
  out.name = spec.name;
  out.origin = spec.origin;
  out.description = "synthetic landscape";
  out.kernel_name = "landscape";
  out.source = "extern \"C\" __global__ void landscape(float* time) { time[0] = 0";
  Workload workload;
  workload.name = "default";
  out.workloads = {std::move(workload)};
  for (int i = 0; i < landscape.knobs(); ++i) {
    const std::string knob = "k" + std::to_string(i);
    out.source += " + " + knob;
    std::vector<std::int64_t> values(static_cast<std::size_t>(landscape.levels()));
    std::iota(values.begin(), values.end(), std::int64_t{0});
    out.tunables.push_back({.name = knob,
                            .values = std::move(values),
                            .default_value = 0,
                            .help = "knob of the landscape"});
  }
  out.source += "; }\n";
  ArgSpec time;
  time.name = "time";
  time.role = ArgRole::output;
  time.tensor = TensorSpec{};
  time.tensor->shape = {Expression(1)};
  out.io.args = {std::move(time)};
  return out;
}

std::optional<Landscape::Point> landscape_point(const Landscape& landscape,
                                                const Variant& variant) {
  Landscape::Point point;
  for (int i = 0; i < landscape.knobs(); ++i) {
    const auto it = variant.tunables.find("k" + std::to_string(i));
    const std::int64_t level = it == variant.tunables.end() ? 0 : it->second;
    if (level < 0 || level >= landscape.levels()) return std::nullopt;
    point.push_back(static_cast<int>(level));
  }
  return point;
}

void register_runner_synthetic(RunnerRegistry& registry) {
  registry.add(
      "synthetic",
      "a seeded landscape with a known optimum, searched instead of the kernel of the spec: "
      "synthetic[:PRESET]",
      [](const RunnerConfig& config) { return std::make_unique<SyntheticRunner>(config); },
      {&SyntheticOptions::kind()}, {.timings = "pretended timings", .evaluates = false});
}

}  // namespace warpath
