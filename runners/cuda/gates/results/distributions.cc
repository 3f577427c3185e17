#include "runners/cuda/gates/device_gate.h"
#include "runners/cuda/gates/guard_check.h"
#include "runners/cuda/measure/baseline_reach.h"
#include "runners/inputs/input_choices.h"

namespace warpath::cuda {
namespace {

/// Judges the candidate on the families of inputs that the baseline can compute, within the
/// tolerance or the error that a correct kernel can reach there. Families that exceed time or
/// memory are left out. The memory around the tensors holds NaNs: inputs at an end of their range
/// may lead a kernel to read outside them, with a weight of zero.
class Distributions final : public DeviceGate {
 public:
  Distributions()
      : DeviceGate({.name = "distributions",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "results are right for other distributions of the inputs",
                    .failure = Status::wrong_result,
                    .former = "d5_distributions"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    if (const std::string why = no_other_inputs(trial.problem().spec()); !why.empty())
      return not_run(why);
    std::size_t judged = 0, choices = 0;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      surround_by_nans(trial, w);
      choices += stress_choices(trial.problem().spec(), *trial.at(w).workload).size();
      for (const auto& set : trial.problem().family_sets(w)) {
        if (is_structure(set->family)) continue;
        // Additions of floats to global memory take subnormal numbers for zero.
        if (set->family == InputFamily::subnormal && trial.may_vary()) continue;
        trial.launch_fresh(w, 0, *set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, 0, *set, "another distribution");
        if (!result.passed) {
          if (!baseline_on(trial.problem(), w, *set).tells()) continue;
          return fail(where(trial, w, *set) + result.detail);
        }
        ++judged;
      }
      surround_by_noise(trial, w);
    }
    if (judged == 0) return not_run("the baseline can compute no other distribution");
    return pass(std::to_string(judged) + " of " + std::to_string(choices) + " families");
  }
};

}  // namespace

void register_gate_distributions(GateTable& table) {
  table.add(std::make_unique<Distributions>());
}

}  // namespace warpath::cuda
