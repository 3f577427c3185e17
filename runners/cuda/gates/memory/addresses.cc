#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// The same values at every slot, the barely aligned one included.
class Addresses final : public DeviceGate {
 public:
  Addresses()
      : DeviceGate({.name = "addresses",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "addresses and alignment matter no more than declared",
                    .former = "d22_addresses"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 1);
      for (std::size_t slot = 0; slot < trial.at(w).slots.size(); ++slot) {
        trial.launch_fresh(w, slot, set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, slot, set, "another address");
        if (!result.passed)
          return fail(where(trial, w, set) + "at another address: " + result.detail);
      }
    }
    return pass("references are masked in device memory");
  }
};

}  // namespace

void register_gate_addresses(GateTable& table) {
  table.add(std::make_unique<Addresses>());
}

}  // namespace warpath::cuda
