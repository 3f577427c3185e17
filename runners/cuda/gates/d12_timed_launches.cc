#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D12: outputs of the launches that were timed, on every input set that they took turns over.
class TimedLaunches final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d12_timed_launches"; }
  [[nodiscard]] Status failure() const override { return Status::wrong_result; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      if (trial.at(w).workload->role == WorkloadRole::regress) continue;
      const Sampling& sampling = trial.timing(w);
      for (std::size_t slot = 0; slot < sampling.timed_slots.size(); ++slot) {
        if (!sampling.timed_slots[slot]) continue;
        const InputSet& set = trial.declared_set(w, slot);
        const Comparison result = trial.compare(w, slot, set, "the timed launches");
        if (!result.passed) return fail(where(trial, w, set) + result.detail);
      }
    }
    return pass();
  }
};

}  // namespace

void register_device_gate_d12_timed_launches(DeviceGateRegistry& registry);
void register_device_gate_d12_timed_launches(DeviceGateRegistry& registry) {
  registry.add("d12_timed_launches",
               "what the timed launches left is right",
               [] { return std::make_unique<TimedLaunches>(); });
}

}  // namespace warpath::cuda
