#include "engine/error.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D21: the state in which the last candidate left the device does not touch this one. A failure is the
/// device's or the worker's, never the candidate's.
class Isolation final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d21_isolation"; }
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

void register_device_gate_d21_isolation(DeviceGateRegistry& registry);
void register_device_gate_d21_isolation(DeviceGateRegistry& registry) {
  registry.add("d21_isolation",
               "a kernel with a known answer gives it before the candidate runs",
               [] { return std::make_unique<Isolation>(); });
}

}  // namespace warpath::cuda
