#include "runners/replay/graph_runner.h"

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "runners/replay/options.h"
#include "runners/replay/virtual_clock.h"
#include "runners/replay/virtual_lab.h"

namespace warpath {
namespace {

class GraphRunner final : public Runner {
 public:
  GraphRunner(std::shared_ptr<const RecordedGraph> graph, const RunnerConfig& config)
      : graph_(std::move(graph)),
        file_(config.argument),
        served_(served_by(config.options->of<ReplayOptions>().served)),
        clock_(config.options->of<ReplayOptions>().devices) {}

  [[nodiscard]] std::string_view name() const override { return "replay"; }
  [[nodiscard]] DeviceFacts device() const override {
    DeviceFacts out = graph_->facts();
    out.runner = "replay";
    out.name = "recorded " + out.name;
    return out;
  }
  [[nodiscard]] int lanes() const override { return clock_.devices(); }
  [[nodiscard]] std::optional<KernelSpec> substitute(const KernelSpec& spec) const override {
    const KernelSpec& recorded = graph_->spec();
    // A synthetic device has no kernel: its recording is recognised by the name of the spec.
    const bool same = variant_key(baseline_variant(spec)) == graph_->node(0).key ||
                      (graph_->facts().runner == "synthetic" && recorded.name == spec.name);
    if (!same) {
      throw bad_input("--runner replay:" + file_,
                      "a graph of kernel " + recorded.kernel_name + " of spec " + recorded.name +
                          ", recorded from another text",
                      "one of " + spec.kernel_name + " as it stands in " + spec.origin);
    }
    KernelSpec out = recorded;
    out.name = spec.name;
    out.origin = spec.origin;
    return out;
  }
  [[nodiscard]] bool refuses(const Variant& variant) const override {
    return graph_->find(variant_key(variant)) == Recording::kNone;
  }
  [[nodiscard]] bool drafts() const override { return true; }
  [[nodiscard]] std::shared_ptr<const Diagnosis> draft(const KernelSpec&,
                                                       const Variant& variant,
                                                       std::stop_token) override {
    const std::uint32_t row = graph_->find(variant_key(variant));
    return row == Recording::kNone ? nullptr : graph_->draft(row);
  }
  void prepare(const KernelSpec&) override {}

  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token) override {
    const std::uint32_t index = graph_->find(variant_key(request.variant));
    if (index == Recording::kNone) return unrecorded(graph_->name());
    const Recording::Row& row = graph_->rows()[index];
    clock_.charge(row.compile_seconds + row.run_seconds);
    Outcome outcome = graph_->node(index).outcome;
    outcome.verdict.gates = {recorded_gate(row.status)};
    if (row.status != Status::ok) {
      outcome.log = "this variant failed when it was recorded";
      return outcome;
    }
    Rng rng(request.seed, "replay");
    const double factor = served_time_ns(row, served_, rng) / row.time_ns;
    for (WorkloadTiming& timing : outcome.timings) {
      for (double& sample : timing.samples_ns) sample *= factor;
      timing.baseline_samples_ns.clear();  // of another session of the device
    }
    return outcome;
  }

  [[nodiscard]] std::map<std::string, double> figures() const override { return clock_.figures(); }

 private:
  std::shared_ptr<const RecordedGraph> graph_;
  std::string file_;
  Served served_;
  VirtualClock clock_;
};

}  // namespace

std::unique_ptr<Runner> make_graph_runner(std::shared_ptr<const RecordedGraph> graph,
                                          const RunnerConfig& config) {
  return std::make_unique<GraphRunner>(std::move(graph), config);
}

}  // namespace warpath
