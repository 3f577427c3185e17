#include "engine/base/error.h"
#include "runners/cuda/gates/device_gate.h"
#include "runners/cuda/gates/guard_check.h"
#include "runners/cuda/measure/baseline_reach.h"
#include "runners/inputs/input_choices.h"

namespace warpath::cuda {
namespace {

/// Inputs with a structure that a kernel may look for in a part of them: identities, zero blocks,
/// repeated tiles, halves that are copies, one value, low rank, order. Where the structure holds
/// but for one element at a random place, a kernel that took it for granted is wrong; where it
/// holds, one that takes the wrong short cut is. Those that time and memory do not suffice for, and
/// those that the baseline cannot compute, are left out. The memory around the tensors holds NaNs.
class StructuredInputs final : public DeviceGate {
 public:
  StructuredInputs()
      : DeviceGate({.name = "structured_inputs",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "results are right where inputs have a structure, and where they have "
                            "it but for one element",
                    .failure = Status::wrong_result}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    if (const std::string why = no_other_inputs(trial.problem().spec()); !why.empty())
      return not_run(why);
    std::size_t judged = 0, structures = 0;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      structures += structure_choices(trial.problem().spec(), *trial.at(w).workload).size();
      surround_by_nans(trial, w);
      for (const auto& set : trial.problem().family_sets(w)) {
        if (!is_structure(set->family)) continue;
        trial.launch_fresh(w, 0, *set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, 0, *set, "structured inputs");
        if (!result.passed) {
          if (!baseline_on(trial.problem(), w, *set).tells()) continue;
          // This candidate or an earlier one may have done so: another worker, where only this one
          // runs, judges it again.
          if (!trial.problem().inputs().intact(trial.at(w), *set))
            throw CandidateFault{Status::crashed, "it overwrote inputs that it was never given",
                                 true};
          return fail(where(trial, w, *set) + result.detail);
        }
        ++judged;
      }
      surround_by_noise(trial, w);
    }
    return judged == 0
               ? not_run("the baseline can compute no structure")
               : pass(std::to_string(judged) + " of " + std::to_string(structures) + " sets");
  }
};

}  // namespace

void register_gate_structured_inputs(GateTable& table) {
  table.add(std::make_unique<StructuredInputs>());
}

}  // namespace warpath::cuda
