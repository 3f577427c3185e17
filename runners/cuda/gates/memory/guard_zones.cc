#include "runners/cuda/gates/device_gate.h"
#include "runners/cuda/gates/guard_check.h"

namespace warpath::cuda {
namespace {

/// Patterns of 16 MiB before, between and behind the tensors must be unchanged.
class GuardZones final : public DeviceGate {
 public:
  GuardZones()
      : DeviceGate({.name = kGuardGate,
                    .phase = GatePhase::device,
                    .help = "nothing was written outside the tensors",
                    .former = "d7_guard_zones"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) check_guards(trial, w);
    return pass();
  }
};

}  // namespace

void register_gate_guard_zones(GateTable& table) {
  table.add(std::make_unique<GuardZones>());
}

}  // namespace warpath::cuda
