#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Outputs must be the same bytes whether they held NaNs or finite noise before; for a kernel that
/// is not deterministic, both results must be correct.
class OutputPoison final : public DeviceGate {
 public:
  OutputPoison()
      : DeviceGate({.name = "output_poison",
                    .phase = GatePhase::device,
                    .help = "results do not depend on what the output held before",
                    .failure = Status::wrong_result,
                    .former = "d1_output_poison"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      if (!trial.is_fresh(w, 0)) trial.launch_fresh(w, 0, set, 2 * trial.bench().secret());
      const Hash128 over_nans = trial.fingerprint(w, 0, "a launch on poisoned outputs");
      trial.problem().restore(w, 0, set);
      fill_with_noise(trial, w);
      trial.launch(w, 0);
      const Hash128 over_noise = trial.fingerprint(w, 0, "a launch on poisoned outputs");
      if (over_nans == over_noise) continue;
      const Comparison result = trial.compare(w, 0, set, "a launch on poisoned outputs");
      if (!result.passed)
        return fail(where(trial, w, set) + "outputs held noise: " + result.detail);
      trial.nondeterministic = true;
    }
    return pass(trial.nondeterministic ? "two runs differ in rounding: not deterministic" : "");
  }

 private:
  static void fill_with_noise(Trial& trial, std::size_t w) {
    const PlacedWorkload& placed = trial.at(w);
    for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
      if (placed.tensors[t].role != ArgRole::output || placed.tensors[t].size_bytes == 0) continue;
      trial.bench().harness().guard_fill(trial.bench().stream(), placed.slots[0].tensors[t],
                                         placed.tensors[t].size_bytes, trial.bench().secret());
    }
  }
};

}  // namespace

void register_gate_output_poison(GateTable& table) {
  table.add(std::make_unique<OutputPoison>());
}

}  // namespace warpath::cuda
