#include <cmath>
#include <optional>
#include <utility>

#include "engine/portable/nudge.h"
#include "runners/cuda/gates/device_gate.h"
#include "runners/inputs/scaling.h"

namespace warpath::cuda {
namespace {

constexpr std::size_t kMostInputs = 3;
// a narrower type, or another path for large values, differs by thousands of units
constexpr double kRoundings = 8;
// of all outputs, which are judged on the host
constexpr std::size_t kMostBytes = std::size_t{1} << 29;

/// An input times a power of two. Where that multiplies every result of the baseline by a power of
/// two, to the last bit, it does so for the candidate, but for rounding: no bit is rounded by the
/// scaling itself, but a candidate may add a small number that the baseline does not, such as a
/// guard against a division by zero. Needs no reference.
class Metamorphic final : public DeviceGate {
 public:
  Metamorphic()
      : DeviceGate(
            {.name = "powers_of_two",
             .phase = GatePhase::device,
             .stage = Stage::final,
             .help =
                 "an input times a power of two changes the results as it changes the baseline's",
             .failure = Status::wrong_result,
             .former = "d19_metamorphic"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    if (trial.may_vary())
      return not_run("results may differ from launch to launch in their last bits");
    if (trial.candidate().key == trial.problem().setup().baseline.key)
      return not_run("it is the spec's own kernel, which others are held to");
    std::size_t relations = 0;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      if (output_bytes(trial, w) > kMostBytes) continue;
      const std::vector<TensorPlace>& tensors = trial.at(w).tensors;
      std::size_t inputs = 0;
      for (std::size_t t = 0; t < tensors.size() && inputs < kMostInputs; ++t) {
        if (tensors[t].role != ArgRole::input || !info(tensors[t].dtype).is_float) continue;
        ++inputs;
        const auto scaled = trial.problem().inputs().scaled(trial.at(w), t);
        const auto powers =
            powers_of_baseline(trial, w, *scaled, portable::huge_exponent(tensors[t].dtype));
        if (!powers) continue;
        const std::vector<Tensor> before = results(trial, w, *trial.at(w).sets.front());
        const std::vector<Tensor> after = results(trial, w, *scaled);
        for (std::size_t o = 0; o < before.size(); ++o) {
          const std::int64_t wrong =
              first_not_scaled(before[o], after[o], (*powers)[o],
                               kRoundings * portable::nudge_step(before[o].dtype));
          if (wrong < 0) continue;
          return fail(
              where(trial, w, *scaled) + tensors[t].arg->name + " times 2^" +
              std::to_string(portable::huge_exponent(tensors[t].dtype)) + ": element " +
              std::to_string(wrong) + " of an output is " + std::to_string(after[o].at(wrong)) +
              " after " + std::to_string(before[o].at(wrong)) +
              ", the baseline's results are multiplied by 2^" + std::to_string((*powers)[o]));
        }
        ++relations;
      }
    }
    if (relations == 0)
      return not_run("no input times a power of two gives the baseline's results times another");
    return pass(std::to_string(relations) + " inputs times a power of two");
  }

 private:
  static std::size_t output_bytes(Trial& trial, std::size_t w) {
    std::size_t bytes = 0;
    for (const TensorPlace& tensor : trial.at(w).tensors)
      bytes += tensor.is_written() ? tensor.size_bytes : 0;
    return bytes;
  }

  /// All written tensors after one launch on `set`.
  static std::vector<Tensor> results(Trial& trial, std::size_t w, const InputSet& set) {
    trial.launch_fresh(w, 0, set, 2 * trial.bench().secret());
    trial.bench().synchronize("inputs times a power of two");
    const PlacedWorkload& placed = trial.at(w);
    std::vector<Tensor> out;
    for (std::size_t t = 0; t < placed.tensors.size(); ++t) {
      const TensorPlace& tensor = placed.tensors[t];
      if (!tensor.is_written()) continue;
      out.push_back(download(trial.bench().api(), tensor, placed.slots[0].tensors[t]));
    }
    return out;
  }

  /// By written tensor: the power that the baseline's results are multiplied by; nullopt where any
  /// is not.
  static std::optional<std::vector<int>> powers_of_baseline(Trial& trial,
                                                            std::size_t w,
                                                            const InputSet& scaled,
                                                            int exponent) {
    const TrialRequest request{.candidate = trial.problem().setup().baseline};
    Trial baseline(trial.bench(), trial.problem(), request);
    const std::vector<Tensor> before = results(baseline, w, *trial.at(w).sets.front());
    const std::vector<Tensor> after = results(baseline, w, scaled);
    std::vector<int> powers;
    for (std::size_t o = 0; o < before.size(); ++o) {
      const auto power = power_between(before[o], after[o], exponent);
      if (!power) return std::nullopt;
      powers.push_back(*power);
    }
    return powers;
  }
};

}  // namespace

void register_gate_powers_of_two(GateTable& table) {
  table.add(std::make_unique<Metamorphic>());
}

}  // namespace warpath::cuda
