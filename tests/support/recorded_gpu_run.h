#pragma once

#include <filesystem>
#include <string>

#include "engine/run/session.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/shipping.h"
#include "register_priors.h"
#include "runners/pool.h"

namespace warpath::test {

/// What a device could say: every variant is right, any but the baseline twice as fast.
class RecordedDevice final : public Runner {
 public:
  explicit RecordedDevice(double gain) : gain_(gain) {}
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] DeviceFacts device() const override {
    return {.runner = "cuda", .name = "NVIDIA H200", .arch = "sm_90a", .is_gpu = true};
  }
  [[nodiscard]] std::string platform() const override { return "GPU-1 driver 580"; }
  void prepare(const KernelSpec& spec) override { baseline_ = variant_key(baseline_variant(spec)); }
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token) override {
    Outcome out;
    out.status = Status::ok;
    out.verdict.gates = {{"reference", GateResult::Answer::pass, ""}};
    for (const Workload& workload : request.spec.workloads) {
      WorkloadTiming& timing = out.timings.emplace_back();
      timing.workload = workload.name;
      timing.samples_ns.assign(8, request.key == baseline_ ? 1000 : 1000 / gain_);
    }
    return out;
  }

 private:
  double gain_;
  Hash128 baseline_;
};

/// Proposes one variant, at the baseline.
class OneVariant final : public Proposer {
 public:
  explicit OneVariant(Variant variant) : variant_(std::move(variant)) {}
  [[nodiscard]] std::string_view name() const override { return "file"; }
  [[nodiscard]] bool pure() const override { return false; }
  [[nodiscard]] std::vector<Proposal> propose(const ProposalContext& at, Rng&) override {
    if (variant_key(at.at.variant) != variant_key(baseline_variant(at.at.spec))) return {};
    Proposal proposal;
    proposal.instance = {"by_hand", "kernel", {{"text", 1}}};
    proposal.source = "file";
    proposal.variant = variant_;
    return {proposal};
  }

 private:
  Variant variant_;
};

/// A run folder as the cuda runner leaves it, with `best` as its best kernel, `gain` times as fast.
inline void record_gpu_run(const std::filesystem::path& folder,
                           const KernelSpec& spec,
                           const Variant& best,
                           double gain = 2) {
  Options options = default_options();
  options.run.budget_builds = 1;
  options.run.prior = "uniform";
  options.record.sync = "never";
  RecordedDevice device(gain);
  OneVariant proposer(best);
  const MoveRegistry moves("move");
  const PriorRegistry& priors = registered_priors();
  const auto prior = priors.create("run.prior", options.run.prior, {.options = &options});
  const SessionSetup setup{.spec = spec,
                           .options = options,
                           .runner_text = "cuda",
                           .runner = device,
                           .make_evaluator = runner_pool,
                           .moves = moves,
                           .proposers = {&proposer},
                           .prior = *prior,
                           .folder = folder,
                           .environment_json = "{\"revision\": \"abc\"}"};
  ship_best(folder, run_session(setup));
}

}  // namespace warpath::test
