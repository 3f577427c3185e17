#include <functional>

#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Random patterns of 16 MiB before, between and behind the tensors are what they were.
class GuardZones final : public DeviceGate {
 public:
  GuardZones()
      : DeviceGate({.name = kGuardGate,
                    .phase = GatePhase::device,
                    .help = "nothing was written outside the tensors",
                    .former = "d7_guard_zones"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    Answers& answers = trial.bench().answers();
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      answers.clear();
      const std::uint64_t nonce = trial.bench().secret();
      struct Asked {
        std::string place;
        std::size_t answer;
      };
      std::vector<Asked> asked;
      const auto ask = [&](const Slot& slot, const std::function<std::string(std::size_t)>& name_of) {
        for (std::size_t z = 0; z < slot.zones.size(); ++z) {
          const std::string place = z == 0 ? "before " + name_of(0) : "behind " + name_of(z - 1);
          asked.push_back({place, answers.place<DeviceGuard>()});
          trial.bench().harness().guard_check(trial.bench().stream(), slot.zones[z].address, slot.zones[z].size_bytes, slot.guard_seed,
                                              nonce, answers.address(asked.back().answer));
        }
      };
      const auto& tensors = trial.at(w).tensors;
      for (const Slot& slot : trial.at(w).slots) ask(slot, [&](std::size_t t) { return tensors[t].arg->name; });
      ask(trial.scratch(w), [](std::size_t i) { return "scratch buffer " + std::to_string(i + 1); });
      trial.bench().collect("guard zones");
      for (const Asked& one : asked) {
        const auto& guard = answers.at<DeviceGuard>(one.answer);
        if (guard.nonce == nonce && guard.changed == 0) continue;
        // Inputs and references may be hit as well: nothing in this process is trusted any more.
        throw CandidateFault{Status::rejected, hit(trial, w, one.place, guard), true};
      }
    }
    return pass();
  }

 private:
  static std::string hit(Trial& trial, std::size_t w, const std::string& place, const DeviceGuard& guard) {
    return "workload " + trial.at(w).workload->name + ": " + std::to_string(guard.changed) +
           " bytes " + place + " were overwritten, the first " +
           std::to_string(guard.first_offset) + " bytes into the guard zone";
  }
};

}  // namespace

void register_gate_guard_zones(GateTable& table) { table.add(std::make_unique<GuardZones>()); }

}  // namespace warpath::cuda
