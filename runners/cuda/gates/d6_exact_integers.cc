#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D6: inputs of -1, 0 and 1, where sums are exact in any order.
class ExactIntegers final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d6_exact_integers"; }
  [[nodiscard]] Status failure() const override { return Status::wrong_result; }
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

void register_device_gate_d6_exact_integers(DeviceGateRegistry& registry);
void register_device_gate_d6_exact_integers(DeviceGateRegistry& registry) {
  registry.add("d6_exact_integers",
               "where integers make the baseline exact, so is the candidate",
               [] { return std::make_unique<ExactIntegers>(); });
}

}  // namespace warpath::cuda
