#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D7: random patterns of 16 MiB before, between and behind the tensors are what they were.
class GuardZones final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d7_guard_zones"; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    Answers& answers = trial.bench().answers();
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      answers.clear();
      const std::uint64_t nonce = trial.bench().secret();
      std::vector<std::size_t> places;
      for (const Slot& slot : trial.at(w).slots) {
        for (const Slot::Zone& zone : slot.zones) {
          places.push_back(answers.place<DeviceGuard>());
          trial.bench().harness().guard_check(trial.bench().stream(), zone.address, zone.size_bytes,
                                              slot.guard_seed, nonce, answers.address(places.back()));
        }
      }
      trial.bench().collect("guard zones");
      const std::size_t zones = trial.at(w).tensors.size() + 1;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const auto& guard = answers.at<DeviceGuard>(places[i]);
        if (guard.nonce == nonce && guard.changed == 0) continue;
        // Inputs and references may be hit as well: nothing in this process is trusted any more.
        throw CandidateFault{Status::rejected, hit(trial, w, i % zones, guard), true};
      }
    }
    return pass();
  }

 private:
  static std::string hit(Trial& trial, std::size_t w, std::size_t zone, const DeviceGuard& guard) {
    const auto& tensors = trial.at(w).tensors;
    const std::string place = zone == 0 ? "before " + tensors.front().arg->name
                                        : "behind " + tensors[zone - 1].arg->name;
    return "workload " + trial.at(w).workload->name + ": " + std::to_string(guard.changed) +
           " bytes " + place + " were overwritten, the first " +
           std::to_string(guard.first_offset) + " bytes into the guard zone";
  }
};

}  // namespace

void register_device_gate_d7_guard_zones(DeviceGateRegistry& registry);
void register_device_gate_d7_guard_zones(DeviceGateRegistry& registry) {
  registry.add("d7_guard_zones",
               "nothing was written outside the tensors",
               [] { return std::make_unique<GuardZones>(); });
}

}  // namespace warpath::cuda
