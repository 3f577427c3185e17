#include "engine/base/error.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// The last candidate left the device in a state that does not affect this one. A failure is blamed
/// on the device or the worker, never on the candidate.
class Isolation final : public DeviceGate {
 public:
  Isolation()
      : DeviceGate({.name = kIsolationGate,
                    .phase = GatePhase::device,
                    .help = "a kernel with a known answer gives it before the candidate runs",
                    .former = "d21_isolation"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    double ns = 0;
    if (const std::string problem = trial.bench().canary(ns); !problem.empty()) {
      throw environment_error(problem + ": the device or its worker is not to be trusted");
    }
    trial.diagnosis.facts["canary_ns"] = {ns, FactSource::measured};
    return pass();
  }
};

}  // namespace

void register_gate_isolation(GateTable& table) {
  table.add(std::make_unique<Isolation>());
}

}  // namespace warpath::cuda
