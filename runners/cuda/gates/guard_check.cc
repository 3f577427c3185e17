#include "runners/cuda/gates/guard_check.h"

#include <functional>

#include "engine/portable/guard.h"

namespace warpath::cuda {
namespace {

std::string hit(Trial& trial, std::size_t w, const std::string& place, const DeviceGuard& guard) {
  return "workload " + trial.at(w).workload->name + ": " + std::to_string(guard.changed) +
         " bytes " + place + " were overwritten, the first " + std::to_string(guard.first_offset) +
         " bytes into the guard zone";
}

}  // namespace

void check_guards(Trial& trial, std::size_t w) {
  struct Asked {
    std::string place;
    std::size_t answer;
  };
  Answers& answers = trial.bench().answers();
  answers.clear();
  const std::uint64_t nonce = trial.bench().secret();
  std::vector<Asked> asked;
  const auto ask = [&](const Slot& slot, const std::function<std::string(std::size_t)>& name_of) {
    for (std::size_t z = 0; z < slot.zones.size(); ++z) {
      const std::string place = z == 0 ? "before " + name_of(0) : "behind " + name_of(z - 1);
      asked.push_back({place, answers.place<DeviceGuard>()});
      trial.bench().harness().guard_check(trial.bench().stream(), slot.zones[z].address,
                                          slot.zones[z].size_bytes, slot.guard_seed, nonce,
                                          answers.address(asked.back().answer));
    }
  };
  const auto& tensors = trial.at(w).tensors;
  for (const Slot& slot : trial.at(w).slots)
    ask(slot, [&](std::size_t t) { return tensors[t].arg->name; });
  ask(trial.scratch(w), [](std::size_t i) { return "scratch buffer " + std::to_string(i + 1); });
  trial.bench().collect("guard zones");
  for (const Asked& one : asked) {
    const auto& guard = answers.at<DeviceGuard>(one.answer);
    if (guard.nonce == nonce && guard.changed == 0) continue;
    throw CandidateFault{Status::rejected, hit(trial, w, one.place, guard), true};
  }
}

void surround_by_nans(Trial& trial, std::size_t w) {
  check_guards(trial, w);
  trial.arm_guards(w, 0, portable::kOnesGuard);
}

void surround_by_noise(Trial& trial, std::size_t w) {
  check_guards(trial, w);
  trial.arm_guards(w, 0, trial.bench().secret());
}

}  // namespace warpath::cuda
