#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Compares the outputs of the timed launches themselves, on every input set that they rotated
/// over. Where a candidate was raced out before each set had its turn, the others get a launch of
/// their own, unless it is steady: then it would cost more than it tells.
class TimedLaunches final : public DeviceGate {
 public:
  TimedLaunches()
      : DeviceGate({.name = "timed_launches",
                    .phase = GatePhase::device,
                    .help = "what the timed launches left is right",
                    .failure = Status::wrong_result,
                    .former = "d12_timed_launches"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      if (trial.at(w).workload->role == WorkloadRole::regress) continue;
      const Sampling& sampling = trial.timing(w);
      for (std::size_t slot = 0; slot < sampling.timed_slots.size(); ++slot) {
        const InputSet& set = trial.declared_set(w, slot);
        if (!sampling.timed_slots[slot]) {
          if (slot == 0 || trial.is_steady(w)) continue;  // the first is judged before
          trial.launch_fresh(w, slot, set, 2 * trial.bench().secret());
        }
        const Comparison result = trial.compare(w, slot, set, "the timed launches");
        if (!result.passed) return fail(where(trial, w, set) + result.detail);
      }
    }
    return pass();
  }
};

}  // namespace

void register_gate_timed_launches(GateTable& table) {
  table.add(std::make_unique<TimedLaunches>());
}

}  // namespace warpath::cuda
