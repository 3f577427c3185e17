#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D8: fingerprints of all inputs after the launches; an input is no place to keep anything.
class Inputs final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d8_inputs"; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    Answers& answers = trial.bench().answers();
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const PlacedWorkload& placed = trial.at(w);
      for (std::size_t slot = 0; slot < placed.slots.size(); ++slot) {
        answers.clear();
        const std::uint64_t nonce = trial.bench().secret();
        std::vector<std::size_t> places(placed.tensors.size());
        for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
          if (placed.tensors[t].role != ArgRole::input) continue;
          places[t] = answers.place<DeviceDigest>();
          trial.bench().harness().digest(trial.bench().stream(), placed.slots[slot].tensors[t],
                                         placed.tensors[t].size_bytes, kDigestSeed, nonce,
                                         answers.address(places[t]));
        }
        trial.bench().collect("inputs");
        const InputSet& set = trial.declared_set(w, slot);
        for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
          if (placed.tensors[t].role != ArgRole::input) continue;
          const auto& now = answers.at<DeviceDigest>(places[t]);
          if (now.nonce == nonce && now.low == set.digest[t].low && now.high == set.digest[t].high) continue;
          return fail(where(trial, w, set) + "the kernel wrote to its input " + placed.tensors[t].arg->name);
        }
      }
    }
    return pass();
  }
};

}  // namespace

void register_device_gate_d8_inputs(DeviceGateRegistry& registry);
void register_device_gate_d8_inputs(DeviceGateRegistry& registry) {
  registry.add("d8_inputs",
               "inputs are what they were",
               [] { return std::make_unique<Inputs>(); });
}

}  // namespace warpath::cuda
