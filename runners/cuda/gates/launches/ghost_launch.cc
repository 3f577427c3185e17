#include "engine/base/error.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Checks the harness itself: poisoned outputs without a launch must not pass.
class Ghost final : public DeviceGate {
 public:
  Ghost()
      : DeviceGate({.name = "ghost_launch",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "an absent launch is noticed",
                    .former = "d25_ghost"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      trial.problem().restore(w, 0, set);
      trial.problem().poison(w, 0, 2 * trial.bench().secret());
      if (trial.compare(w, 0, set, "no launch at all").passed && !trial.at(w).mutates_inputs()) {
        throw environment_error("outputs pass without a launch: the check of workload " +
                                trial.at(w).workload->name + " is dead");
      }
    }
    return pass();
  }
};

}  // namespace

void register_gate_ghost_launch(GateTable& table) {
  table.add(std::make_unique<Ghost>());
}

}  // namespace warpath::cuda
