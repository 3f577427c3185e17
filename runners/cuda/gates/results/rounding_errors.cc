#include <algorithm>

#include "engine/base/format.h"
#include "engine/portable/nudge.h"
#include "runners/cuda/gates/device_gate.h"
#include "runners/cuda/measure/baseline_reach.h"
#include "runners/inputs/reach.h"

namespace warpath::cuda {
namespace {

/// Another order of summation changes the error by less than this factor, another type by much
/// more.
constexpr double kGrowth = 64;
/// Upper bound of the error of fp32 arithmetic.
constexpr double kLeastNorm = 0x1p-18;

/// If the contract allows approximate functions, the error may be as large as its tolerance.
bool allows_approximations(const KernelSpec& spec) {
  return spec.bound.flops.contains("sfu") ||
         std::ranges::any_of(spec.compiler_options, [](const std::string& option) {
           return option.ends_with("use_fast_math");
         });
}

/// The greatest relative norm that a correct kernel's errors may have on `set`.
double allowed_norm(Trial& trial, std::size_t w, const InputSet& set) {
  double allowed =
      std::max(kGrowth * baseline_on(trial.problem(), w, set).result.relative_norm, kLeastNorm);
  const std::vector<TensorPlace>& tensors = trial.at(w).tensors;
  const std::vector<Reach>& reach = reach_on(trial.problem(), w, set);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (!tensors[t].is_written()) continue;
    // A result of 16 bits is off by its own rounding, wherever else sums are rounded.
    allowed = std::max(allowed, portable::nudge_step(tensors[t].dtype));
    allowed = std::max(allowed, norm_within(reach[t]));
    if (allows_approximations(trial.problem().spec()))
      allowed = std::max(allowed, trial.problem().spec().tolerance_of(tensors[t].arg->name).norm);
  }
  return allowed;
}

/// On inputs whose low bits matter, and on sums that cancel, the relative error stays within a
/// factor of what the baseline's is there: a narrower type or a cut mantissa does not.
class Precision final : public DeviceGate {
 public:
  Precision()
      : DeviceGate({.name = "rounding_errors",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "errors are of the kind that the baseline makes",
                    .failure = Status::wrong_result,
                    .former = "d20_precision"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    bool judged = false;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      for (const auto& set : trial.problem().family_sets(w)) {
        if (!needs_whole_mantissa(set->family)) continue;
        trial.launch_fresh(w, 0, *set, 2 * trial.bench().secret());
        const Comparison result = trial.compare(w, 0, *set, "inputs that need the whole mantissa");
        const bool is_small = result.passed && result.relative_norm <= kLeastNorm;
        if (!is_small && !baseline_on(trial.problem(), w, *set).tells()) continue;
        judged = true;
        if (is_small || (result.passed && result.relative_norm <= allowed_norm(trial, w, *set)))
          continue;
        return fail(where(trial, w, *set) + "relative error " +
                    number_text(result.relative_norm, 3) + ", the baseline's is " +
                    number_text(baseline_on(trial.problem(), w, *set).result.relative_norm, 3) +
                    "; " + result.detail);
      }
    }
    return judged ? pass() : not_run("the baseline can compute no such inputs");
  }
};

}  // namespace

void register_gate_rounding_errors(GateTable& table) {
  table.add(std::make_unique<Precision>());
}

}  // namespace warpath::cuda
