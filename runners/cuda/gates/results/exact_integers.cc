#include "engine/portable/nudge.h"
#include "runners/cuda/gates/device_gate.h"
#include "runners/cuda/measure/baseline_reach.h"

namespace warpath::cuda {
namespace {

/// Equal within one unit in the last place: a mean or a scale factor may round.
std::vector<Tolerance> last_place(const std::vector<TensorPlace>& tensors) {
  std::vector<Tolerance> out;
  for (const TensorPlace& tensor : tensors) {
    out.push_back({.atol = 0x1p-20,
                   .rtol = portable::nudge_step(tensor.dtype),
                   .norm = 1,
                   .exact = !info(tensor.dtype).is_float});
  }
  return out;
}

/// Inputs of -1, 0 and 1 with integer results: sums are then exact in any order, so a term that is
/// left out shows.
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
      for (const auto& set : trial.problem().family_sets(w)) {
        if (set->family != InputFamily::small_integers ||
            !baseline_on(trial.problem(), w, *set).is_exact)
          continue;
        judged = true;
        trial.launch_fresh(w, 0, *set, 2 * trial.bench().secret());
        const std::vector<TensorPlace>& tensors = trial.at(w).tensors;
        const auto found = trial.compare_each(w, trial.at(w).slots[0].tensors, *set,
                                              last_place(tensors), "integer inputs");
        for (std::size_t t = 0; t < found.size(); ++t) {
          if (!tensors[t].is_written() || found[t].passed) continue;
          return fail(where(trial, w, *set) + tensors[t].arg->name +
                      ": the baseline is exact, the candidate is not: " + found[t].detail);
        }
      }
    }
    return judged ? pass() : not_run("the baseline's results on integers are not exact integers");
  }
};

}  // namespace

void register_gate_exact_integers(GateTable& table) {
  table.add(std::make_unique<ExactIntegers>());
}

}  // namespace warpath::cuda
