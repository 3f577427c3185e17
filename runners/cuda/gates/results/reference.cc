#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Compares every output element of launches on poisoned outputs, on the first input set and on the
/// barely aligned slot, which is never timed. `timed_launches` judges the other sets; a workload
/// that is not timed is judged on all of them here, unless its launches are long.
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
      // Under a tool, which is slow, one launch suffices.
      const bool is_timed = trial.at(w).workload->role != WorkloadRole::regress;
      const auto judged = [&] {
        return trial.request().untimed ? 1 : is_timed || trial.is_steady(w) ? 2 : slots;
      };
      for (std::size_t i = 0; i < slots; ++i) {
        const std::size_t slot = (slots - i) % slots;  // the first, then the barely aligned one
        const InputSet& set = trial.declared_set(w, slot);
        if (i > 0 && i >= judged()) {  // later gates find the inputs in place
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
