#include <chrono>
#include <thread>

#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

constexpr std::chrono::milliseconds kWait{10};

/// Compares the outputs at the end of a launch, in stream order, with those 10 ms later.
class DeferredWork final : public DeviceGate {
 public:
  DeferredWork()
      : DeviceGate({.name = "deferred_work",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "nothing is written after the end of a launch",
                    .former = "d13_deferred_work"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      trial.launch_fresh(w, 0, set, 2 * trial.bench().secret());
      const Hash128 at_end = trial.fingerprint(w, 0, "a launch");
      std::this_thread::sleep_for(kWait);
      if (trial.fingerprint(w, 0, "a launch") != at_end) {
        return fail(where(trial, w, set) + "outputs changed after the launch had ended");
      }
    }
    return pass();
  }
};

}  // namespace

void register_gate_deferred_work(GateTable& table) {
  table.add(std::make_unique<DeferredWork>());
}

}  // namespace warpath::cuda
