#include <chrono>
#include <thread>

#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// After many launches on the same contents and addresses, one of the two changes, and the result
/// must follow.
class Replay final : public DeviceGate {
 public:
  Replay()
      : DeviceGate({.name = "replay",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "old contents, addresses and outputs are not taken for new ones",
                    .former = "d10_replay"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& a = trial.declared_set(w, 0);
      const InputSet& b = trial.declared_set(w, 1);
      warm(trial, w, a);
      // New contents at warm addresses, over an output that holds the old right answer; then back.
      for (const InputSet* const set : {&b, &a, &b}) {
        trial.problem().restore(w, 0, *set);
        trial.launch(w, 0);
        const Comparison result = trial.compare(w, 0, *set, "new contents at known addresses");
        if (!result.passed)
          return fail(where(trial, w, *set) + "new contents at known addresses: " + result.detail);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      warm(trial, w, a);
      trial.launch_fresh(w, trial.at(w).odd_slot(), a, 2 * trial.bench().secret());
      Comparison result =
          trial.compare(w, trial.at(w).odd_slot(), a, "known contents at new addresses");
      if (!result.passed)
        return fail(where(trial, w, a) + "known contents at new addresses: " + result.detail);
      trial.launch_fresh(w, 0, a, 2 * trial.bench().secret());
      result = trial.compare(w, 0, a, "known contents and addresses, poisoned output");
      if (!result.passed)
        return fail(where(trial, w, a) +
                    "known contents and addresses, poisoned output: " + result.detail);
    }
    return pass();
  }

 private:
  static void warm(Trial& trial, std::size_t w, const InputSet& set) {
    trial.problem().restore(w, 0, set);
    for (int i = 0; i < trial.warm_launches(w); ++i) {
      if (trial.at(w).mutates_inputs()) trial.problem().restore(w, 0, set);
      trial.launch(w, 0);
    }
  }
};

}  // namespace

void register_gate_replay(GateTable& table) {
  table.add(std::make_unique<Replay>());
}

}  // namespace warpath::cuda
