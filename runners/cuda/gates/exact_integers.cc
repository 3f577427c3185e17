#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Inputs of -1, 0 and 1, where sums are exact in any order.
class ExactIntegers final : public DeviceGate {
 public:
  ExactIntegers()
      : DeviceGate({.name = "exact_integers",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "where integers make the baseline exact, so is the candidate",
                    .failure = Status::wrong_result,
                    .former = "d6_exact_integers"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    bool judged = false;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      for (const FamilyCheck& check : trial.problem().family_checks(w)) {
        if (check.set->family != InputFamily::small_integers || !check.baseline_exact) continue;
        judged = true;
        trial.launch_fresh(w, 0, *check.set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, 0, *check.set, "integer inputs");
        if (!result.passed || result.max_abs_error > 0) {
          return fail(where(trial, w, *check.set) + "the baseline is exact, the candidate is not: " + result.detail);
        }
      }
    }
    return judged ? pass() : not_run("the baseline is not exact on integers");
  }
};

}  // namespace

void register_gate_exact_integers(GateTable& table) { table.add(std::make_unique<ExactIntegers>()); }

}  // namespace warpath::cuda
