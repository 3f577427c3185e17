#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Changes the first, the last and random elements of the inputs, at warm addresses and over the
/// previous result.
class PerturbOne final : public DeviceGate {
 public:
  PerturbOne()
      : DeviceGate({.name = "perturb_one",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "one changed input element changes the output as it must",
                    .failure = Status::wrong_result,
                    .former = "d11_perturb_one"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    std::size_t probes = 0;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& base = *trial.at(w).sets.front();
      for (const auto& changed : trial.problem().perturbed_sets(w)) {
        for (int warm = 0; warm < 2; ++warm) {
          trial.problem().restore(w, 0, base);
          trial.launch(w, 0);
        }
        trial.problem().restore(w, 0, *changed);
        trial.launch(w, 0);  // over the old right answer
        const Comparison result = trial.compare(w, 0, *changed, "one changed element");
        if (!result.passed) {
          return fail(where(trial, w, *changed) + "element " +
                      std::to_string(changed->changed_element) + " changed: " + result.detail);
        }
        ++probes;
      }
    }
    if (probes == 0) return not_run("no input has elements that may change alone");
    return pass(std::to_string(probes) + " probes");
  }
};

}  // namespace

void register_gate_perturb_one(GateTable& table) {
  table.add(std::make_unique<PerturbOne>());
}

}  // namespace warpath::cuda
