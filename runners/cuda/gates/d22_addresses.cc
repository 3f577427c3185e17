#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D22: the same values at every slot, the barely aligned one included.
class Addresses final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d22_addresses"; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 1);
      for (std::size_t slot = 0; slot < trial.at(w).slots.size(); ++slot) {
        trial.launch_fresh(w, slot, set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, slot, set, "another address");
        if (!result.passed) return fail(where(trial, w, set) + "at another address: " + result.detail);
      }
    }
    return pass("references are masked in device memory");
  }
};

}  // namespace

void register_device_gate_d22_addresses(DeviceGateRegistry& registry);
void register_device_gate_d22_addresses(DeviceGateRegistry& registry) {
  registry.add("d22_addresses",
               "addresses and alignment matter no more than declared",
               [] { return std::make_unique<Addresses>(); });
}

}  // namespace warpath::cuda
