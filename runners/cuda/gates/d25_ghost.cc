#include "engine/error.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D25: the harness itself is alive: poisoned outputs without a launch do not pass.
class Ghost final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d25_ghost"; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      trial.problem().restore(w, 0, set);
      trial.problem().poison(w, 0, 2 * trial.bench().secret());
      if (trial.compare(w, 0, set, "no launch at all").passed && !trial.at(w).mutates_inputs()) {
        throw environment_error("outputs pass without a launch: the check of workload " + trial.at(w).workload->name + " is dead");
      }
    }
    return pass();
  }
};

}  // namespace

void register_device_gate_d25_ghost(DeviceGateRegistry& registry);
void register_device_gate_d25_ghost(DeviceGateRegistry& registry) {
  registry.add("d25_ghost",
               "an absent launch is noticed",
               [] { return std::make_unique<Ghost>(); });
}

}  // namespace warpath::cuda
