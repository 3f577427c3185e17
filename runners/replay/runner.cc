#include <algorithm>

#include "engine/base/error.h"
#include "register_runners.h"
#include "runners/replay/graph_runner.h"
#include "runners/replay/options.h"
#include "runners/replay/recorded_space.h"
#include "runners/replay/virtual_clock.h"

namespace warpath {
namespace {

/// Serves a recorded space as if it were a device: times and failures from the file, seconds on a
/// virtual clock. A variant outside the space is refused before it costs anything.
class ReplayRunner final : public Runner {
 public:
  ReplayRunner(std::shared_ptr<const RecordedSpace> space, const RunnerConfig& config)
      : held_(std::move(space)),
        space_(*held_),
        served_(served_by(config.options->of<ReplayOptions>().served)),
        clock_(config.options->of<ReplayOptions>().devices) {
    if (space_.best_ns() == 0)
      throw bad_input(config.argument, "a space in which nothing runs", "one with times");
    std::uint64_t attempt = 0;
    do {
      start_ = space_.rows()[space_.first_row(*config.options, config.seed, attempt++)].point;
    } while (space_.rows()[space_.find(start_)].status != Status::ok);
    for (std::size_t i = 0; i < space_.axes(); ++i) source_ += " + " + space_.axis(i).name;
    source_ += "; }\n";
  }

  [[nodiscard]] std::string_view name() const override { return "replay"; }
  [[nodiscard]] DeviceFacts device() const override {
    return {.runner = "replay",
            .name = "recorded " + (space_.device().empty() ? space_.name() : space_.device()),
            .arch = "",
            .multiprocessors = 1};
  }
  [[nodiscard]] int lanes() const override { return clock_.devices(); }
  [[nodiscard]] bool only_tunables() const override { return true; }
  [[nodiscard]] bool refuses(const Variant& variant) const override {
    return row_of(variant) == RecordedSpace::kNone;
  }
  void prepare(const KernelSpec&) override {}

  [[nodiscard]] std::optional<KernelSpec> substitute(const KernelSpec& spec) const override {
    KernelSpec out;
    out.name = spec.name;
    out.origin = spec.origin;
    out.description = "recorded space " + space_.name();
    out.kernel_name = "recorded";
    out.source = source_;
    Workload workload;
    workload.name = "default";
    out.workloads = {std::move(workload)};
    for (std::size_t i = 0; i < space_.axes(); ++i) {
      const RecordedSpace::Axis& axis = space_.axis(i);
      out.tunables.push_back({.name = axis.name,
                              .values = axis.values,
                              .default_value = axis.values[start_[i]],
                              .help = "parameter of the recorded space"});
    }
    ArgSpec time;
    time.name = "time";
    time.role = ArgRole::output;
    time.tensor = TensorSpec{};
    time.tensor->shape = {Expression(1)};
    out.io.args = {std::move(time)};
    return out;
  }

  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token) override {
    const std::uint32_t index = row_of(request.variant);
    if (index == RecordedSpace::kNone) return unrecorded(space_.name());
    const RecordedSpace::Row& row = space_.rows()[index];
    Outcome outcome;
    clock_.charge(row.compile_seconds + row.run_seconds);
    outcome.status = row.status;
    outcome.compile_seconds = row.compile_seconds;
    outcome.run_seconds = row.run_seconds;
    outcome.verdict.gates = {recorded_gate(row.status)};
    if (row.status != Status::ok) {
      outcome.log = "this point failed when it was recorded";
      return outcome;
    }
    Rng rng(request.seed, "replay");
    const double time = served_time_ns(row, served_, rng);
    outcome.timings.push_back(
        {.workload = "default", .samples_ns = {time}, .launch = {}, .cache = "recorded"});
    return outcome;
  }

  [[nodiscard]] std::map<std::string, double> figures() const override { return clock_.figures(); }

 private:
  /// The recorded points are values of the tunables of the unchanged kernel.
  [[nodiscard]] std::uint32_t row_of(const Variant& variant) const {
    if (variant.source != source_) return RecordedSpace::kNone;
    std::vector<Level> point;
    for (std::size_t i = 0; i < space_.axes(); ++i) {
      const std::vector<std::int64_t>& values = space_.axis(i).values;
      const auto it = variant.tunables.find(space_.axis(i).name);
      if (it == variant.tunables.end()) return RecordedSpace::kNone;
      const auto at = std::lower_bound(values.begin(), values.end(), it->second);
      if (at == values.end() || *at != it->second) return RecordedSpace::kNone;
      point.push_back(static_cast<Level>(at - values.begin()));
    }
    return space_.find(point);
  }

  std::shared_ptr<const RecordedSpace> held_;
  const RecordedSpace& space_;
  Served served_;
  VirtualClock clock_;
  std::vector<Level> start_;
  std::string source_ = "extern \"C\" __global__ void recorded(float* time) { time[0] = 0";
};

std::unique_ptr<Runner> make_replay_runner(const RunnerConfig& config) {
  if (config.argument.empty()) throw bad_input("--runner replay", "", "replay:FILE");
  auto recording = load_recording(config.argument);
  if (auto graph = std::dynamic_pointer_cast<const RecordedGraph>(recording))
    return make_graph_runner(std::move(graph), config);
  return std::make_unique<ReplayRunner>(std::dynamic_pointer_cast<const RecordedSpace>(recording),
                                        config);
}

}  // namespace

void register_runner_replay(RunnerRegistry& registry) {
  registry.add("replay", "a recorded tuning space or graph in place of a device: replay:FILE",
               make_replay_runner, {&ReplayOptions::kind()},
               {.timings = "recorded timings", .evaluates = false});
}

}  // namespace warpath
