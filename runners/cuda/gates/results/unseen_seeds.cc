#include <algorithm>

#include "runners/cuda/gates/device_gate.h"
#include "runners/inputs/input_choices.h"

namespace warpath::cuda {
namespace {

/// On inputs that the baseline itself is outside the tolerance for, a candidate may be off by this
/// much more.
constexpr double kLuck = 2;

/// How far outside its tolerance the baseline is on `set`; 0 if it is within.
double baseline_ratio(Trial& trial, std::size_t w, const InputSet& set) {
  const TrialRequest request{.candidate = trial.problem().setup().baseline};
  Trial baseline(trial.bench(), trial.problem(), request);
  baseline.launch_fresh(w, 0, set, 2 * trial.bench().secret());
  const Comparison result = baseline.compare(w, 0, set, "the baseline on an unseen set");
  return result.passed ? 0 : std::max(result.worst_ratio, 1.0);
}

/// For what is reported only; inputs drawn now.
class Vault final : public DeviceGate {
 public:
  Vault()
      : DeviceGate({.name = "unseen_seeds",
                    .phase = GatePhase::device,
                    .stage = Stage::final,
                    .help = "results are right on seeds that no search has used",
                    .failure = Status::wrong_result,
                    .former = "d27_vault"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    if (const std::string why = no_other_inputs(trial.problem().spec()); !why.empty())
      return not_run(why);
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      for (int i = 0; i < 2; ++i) {
        const auto set = trial.problem().inputs().fresh(trial.at(w), trial.bench().secret());
        trial.launch_fresh(w, 0, *set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, 0, *set, "an unseen set");
        if (!result.passed && result.worst_ratio > kLuck * baseline_ratio(trial, w, *set))
          return fail(where(trial, w, *set) + result.detail);
      }
    }
    return pass("2 unseen sets");
  }
};

}  // namespace

void register_gate_unseen_seeds(GateTable& table) {
  table.add(std::make_unique<Vault>());
}

}  // namespace warpath::cuda
