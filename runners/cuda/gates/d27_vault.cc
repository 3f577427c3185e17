#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D27: for what is reported only; inputs drawn now.
class Vault final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d27_vault"; }
  [[nodiscard]] Status failure() const override { return Status::wrong_result; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      for (int i = 0; i < 2; ++i) {
        const auto set = trial.problem().fresh_set(w, trial.bench().secret());
        trial.launch_fresh(w, 0, *set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, 0, *set, "an unseen set");
        if (!result.passed) return fail(where(trial, w, *set) + result.detail);
      }
    }
    return pass("2 unseen sets");
  }
};

}  // namespace

void register_device_gate_d27_vault(DeviceGateRegistry& registry);
void register_device_gate_d27_vault(DeviceGateRegistry& registry) {
  registry.add("d27_vault",
               "results are right on seeds that no search has used",
               [] { return std::make_unique<Vault>(); });
}

}  // namespace warpath::cuda
