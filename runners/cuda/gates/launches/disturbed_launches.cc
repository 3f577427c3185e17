#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Results of 20 launches with NaNs left in shared and local memory, beside a noisy neighbour, and
/// with another split between cache and shared memory.
class Perturbation final : public DeviceGate {
 public:
  Perturbation()
      : DeviceGate({.name = "disturbed_launches",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "results survive what else may happen on a device",
                    .former = "d17_perturbation"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    bool varied = false;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      trial.launch_fresh(w, 0, set, 2 * trial.bench().secret());
      const Hash128 expected = trial.fingerprint(w, 0, "a launch");
      const int runs = trial.repeats(w, 20, 4);
      for (int run = 0; run < runs; ++run) {
        disturbed_launch(trial, w, set, run);
        if (trial.fingerprint(w, 0, "a disturbed launch") == expected) continue;
        varied = true;
        const Comparison result = trial.compare(w, 0, set, "a disturbed launch");
        if (!result.passed)
          return fail(where(trial, w, set) + kDisturbances[run % 4] + ": " + result.detail);
        if (!trial.may_vary()) {
          return fail(where(trial, w, set) + kDisturbances[run % 4] +
                      ": bytes differ, though two quiet runs agreed");
        }
      }
    }
    return pass(varied ? "within the tolerance; not deterministic" : "the same bytes in every run");
  }

 private:
  static constexpr const char* kDisturbances[4] = {
      "NaNs in shared memory", "NaNs in shared and local memory", "a noisy neighbour",
      "another split of cache and shared memory"};

  static void disturbed_launch(Trial& trial, std::size_t w, const InputSet& set, int run) {
    Bench& bench = trial.bench();
    const DriverApi& api = bench.api();
    const int kind = run % 4;
    const auto seed = static_cast<std::uint32_t>(bench.secret());
    if (kind <= 1) bench.harness().poison_shared(bench.stream(), seed);
    if (kind == 1) bench.harness().poison_local(bench.stream(), seed);
    if (kind == 2) bench.start_noise();
    const CUfunction function = trial.kernel(w).function;
    if (kind == 3) {
      static_cast<void>(api.cuFuncSetAttribute(
          function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, run % 8 == 3 ? 0 : 100));
    }
    trial.launch_fresh(w, 0, set, 2 * bench.secret());
    bench.synchronize("a disturbed launch");
    if (kind == 2) bench.stop_noise();
    if (kind == 3)
      static_cast<void>(
          api.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, -1));
  }
};

}  // namespace

void register_gate_disturbed_launches(GateTable& table) {
  table.add(std::make_unique<Perturbation>());
}

}  // namespace warpath::cuda
