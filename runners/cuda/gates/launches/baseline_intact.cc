#include "engine/base/error.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// The baseline runs in the same process with the same harness, and is judged again.
class BaselineIntegrity final : public DeviceGate {
 public:
  BaselineIntegrity()
      : DeviceGate({.name = "baseline_intact",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "the baseline is still right, in the same process",
                    .former = "d24_baseline"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    const TrialRequest request{.candidate = trial.problem().setup().baseline};
    Trial baseline(trial.bench(), trial.problem(), request);
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      baseline.launch_fresh(w, 0, set, 2 * trial.bench().secret());
      const Comparison result = baseline.compare(w, 0, set, "the baseline");
      if (!result.passed)
        throw environment_error("the baseline fails beside a candidate: " + result.detail);
    }
    return pass("compiled with the same options");
  }
};

}  // namespace

void register_gate_baseline_intact(GateTable& table) {
  table.add(std::make_unique<BaselineIntegrity>());
}

}  // namespace warpath::cuda
