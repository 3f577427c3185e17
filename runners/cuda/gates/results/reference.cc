#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Compares every output element of launches on poisoned outputs, on every declared input set. The
/// last slot is aligned as the spec declares and no better.
class ReferenceGate final : public DeviceGate {
 public:
  ReferenceGate()
      : DeviceGate({.name = "reference",
                    .phase = GatePhase::device,
                    .help = "outputs are within the tolerance of an independent reference",
                    .failure = Status::wrong_result,
                    .former = "d2_reference"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    std::string figures;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const std::size_t slots = trial.at(w).slots.size();
      for (std::size_t i = 0; i < slots; ++i) {
        const std::size_t slot = (slots - i) % slots;  // the first, then the barely aligned one
        const InputSet& set = trial.declared_set(w, slot);
        // Under a tool, which is slow, one launch suffices; a steady kernel is judged after its
        // timed launches. Earlier gates find the inputs in place.
        const bool is_enough = trial.request().untimed ? i > 0 : i >= 2 && trial.is_steady(w);
        if (is_enough) {
          trial.problem().restore(w, slot, set);
          continue;
        }
        trial.launch_fresh(w, slot, set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, slot, set, "the first launches");
        if (!result.passed) return fail(where(trial, w, set) + result.detail);
        if (figures.empty()) figures = result.detail;
      }
    }
    return pass(figures);
  }
};

}  // namespace

void register_gate_reference(GateTable& table) {
  table.add(std::make_unique<ReferenceGate>());
}

}  // namespace warpath::cuda
