#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// All workloads, those that only guard correctness included, passed the gates before; the scope is told.
class Shapes final : public DeviceGate {
 public:
  Shapes()
      : DeviceGate({.name = "shapes",
                    .phase = GatePhase::device,
                    .stage = Stage::final,
                    .help = "every workload of the spec is right",
                    .former = "d4_shapes"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    return pass(std::to_string(trial.workloads()) + " workloads of the spec; nothing is claimed beyond their shapes");
  }
};

}  // namespace

void register_gate_shapes(GateTable& table) { table.add(std::make_unique<Shapes>()); }

}  // namespace warpath::cuda
