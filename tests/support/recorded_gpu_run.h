#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/session.h"
#include "experiments/setup/option_groups.h"
#include "experiments/setup/shipping.h"
#include "register_priors.h"
#include "runners/pool.h"

namespace warpath::test {

/// How many times as fast as the baseline a variant is for a workload.
using Gain = std::function<double(const Variant&, const Workload&)>;

/// What a device could say: every variant is right, and any but the baseline as fast as `gain`
/// says.
class RecordedDevice final : public Runner {
 public:
  explicit RecordedDevice(Gain gain) : gain_(std::move(gain)) {}
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
      const double gain =
          request.key == baseline_
              ? 1
              : gain_(version_for(request.spec, request.variant, workload), workload);
      timing.samples_ns.assign(8, 1000 / gain);
    }
    return out;
  }

 private:
  Gain gain_;
  Hash128 baseline_;
};

/// Proposes these variants, at the baseline.
class GivenVariants final : public Proposer {
 public:
  explicit GivenVariants(std::vector<Variant> variants) : variants_(std::move(variants)) {}
  [[nodiscard]] std::string_view name() const override { return "file"; }
  [[nodiscard]] bool pure() const override { return false; }
  [[nodiscard]] std::vector<Proposal> propose(const ProposalContext& at, Rng&) override {
    if (variant_key(at.at.variant) != variant_key(baseline_variant(at.at.spec))) return {};
    std::vector<Proposal> out;
    for (const Variant& variant : variants_) {
      Proposal& proposal = out.emplace_back();
      proposal.instance = {"by_hand", "kernel", {{"text", static_cast<int>(out.size())}}};
      proposal.source = "file";
      proposal.variant = variant;
    }
    return out;
  }

 private:
  std::vector<Variant> variants_;
};

/// A run folder as the cuda runner leaves it, in which `variants` were measured.
inline void record_gpu_run(const std::filesystem::path& folder,
                           const KernelSpec& spec,
                           const std::vector<Variant>& variants,
                           const Gain& gain) {
  Options options = default_options();
  options.run.budget_builds = variants.size();
  options.run.prior = "uniform";
  options.record.sync = "never";
  RecordedDevice device(gain);
  GivenVariants proposer(variants);
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

/// With `best` as its best kernel, `gain` times as fast.
inline void record_gpu_run(const std::filesystem::path& folder,
                           const KernelSpec& spec,
                           const Variant& best,
                           double gain = 2) {
  record_gpu_run(folder, spec, {best}, [gain](const Variant&, const Workload&) { return gain; });
}

}  // namespace warpath::test
