#include "engine/portable/guard.h"
#include "runners/cuda/gates/device_gate.h"
#include "runners/cuda/gates/guard_check.h"

namespace warpath::cuda {
namespace {

/// Adding a number to a random word, or taking a minimum with it, may leave it unchanged. So
/// launches run over each constant pattern, alternately on the first slot and on the barely aligned
/// one.
class GuardPatterns final : public DeviceGate {
 public:
  GuardPatterns()
      : DeviceGate({.name = "guard_patterns",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "nothing outside the tensors was added to, masked, or replaced by a "
                            "minimum or maximum"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      check_guards(trial, w);
      for (portable::Word pattern = 0; pattern < portable::kConstantGuards; ++pattern) {
        if (pattern == portable::kZeroGuard) launch_over(trial, w, trial.at(w).odd_slot(), pattern);
        launch_over(trial, w, pattern % 2 == 0 ? 0 : trial.at(w).odd_slot(), pattern);
      }
    }
    return pass(std::to_string(portable::kConstantGuards) + " patterns");
  }

 private:
  static void launch_over(Trial& trial, std::size_t w, std::size_t slot, portable::Word pattern) {
    trial.arm_guards(w, slot, pattern);
    trial.launch_fresh(w, slot, trial.declared_set(w, slot), 2 * trial.bench().secret());
    check_guards(trial, w);
    trial.arm_guards(w, slot, trial.bench().secret());
  }
};

}  // namespace

void register_gate_guard_patterns(GateTable& table) {
  table.add(std::make_unique<GuardPatterns>());
}

}  // namespace warpath::cuda
