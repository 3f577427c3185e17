#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Fingerprints of all inputs must be unchanged by the launches: a kernel may not store anything
/// there.
class Inputs final : public DeviceGate {
 public:
  Inputs()
      : DeviceGate({.name = "inputs_unchanged",
                    .phase = GatePhase::device,
                    .help = "inputs are what they were",
                    .former = "d8_inputs"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    Answers& answers = trial.bench().answers();
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const PlacedWorkload& placed = trial.at(w);
      answers.clear();
      const std::uint64_t nonce = trial.bench().secret();
      std::vector<std::size_t> places;
      for (const Slot& slot : placed.slots) {
        for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
          places.push_back(answers.place<DeviceDigest>());
          if (placed.tensors[t].role != ArgRole::input) continue;
          trial.bench().harness().digest(trial.bench().stream(), slot.tensors[t],
                                         placed.tensors[t].size_bytes, kDigestSeed, nonce,
                                         answers.address(places.back()));
        }
      }
      trial.bench().collect("inputs");
      for (std::size_t slot = 0; slot < placed.slots.size(); ++slot) {
        const InputSet& set = trial.declared_set(w, slot);
        for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
          if (placed.tensors[t].role != ArgRole::input) continue;
          const auto& now = answers.at<DeviceDigest>(places[slot * placed.tensors.size() + t]);
          if (now.nonce == nonce && now.low == set.digest[t].low && now.high == set.digest[t].high)
            continue;
          return fail(where(trial, w, set) + "the kernel wrote to its input " +
                      placed.tensors[t].arg->name);
        }
      }
    }
    return pass();
  }
};

}  // namespace

void register_gate_inputs_unchanged(GateTable& table) {
  table.add(std::make_unique<Inputs>());
}

}  // namespace warpath::cuda
