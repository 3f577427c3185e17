#include "runners/cuda/finalists/large_tensors.h"

#include <mutex>

#include "register_gates.h"

namespace warpath::cuda {
namespace {

class LargeTensors final : public FinalistGate {
 public:
  LargeTensors()
      : FinalistGate({.name = kLargeTensorsGate,
                      .phase = GatePhase::after,
                      .stage = Stage::final,
                      .help = "results are right where tensors go past 2^31 bytes, and elements, "
                              "as far as the spec's kernel is",
                      .failure = Status::wrong_result}) {}

  [[nodiscard]] GateResult judge(const FinalistSetup& setup) const override {
    const std::lock_guard lock(memory_);
    return check_large_tensors(setup);
  }

 private:
  mutable std::mutex memory_;  ///< held by whoever needs most of a device's memory
};

}  // namespace

void register_gate_large_tensors(GateTable& table) {
  table.add(std::make_unique<LargeTensors>());
}

}  // namespace warpath::cuda
