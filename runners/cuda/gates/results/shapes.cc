#include <algorithm>

#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Reports the workloads that passed the earlier gates, including those that only guard
/// correctness.
class Shapes final : public DeviceGate {
 public:
  Shapes()
      : DeviceGate({.name = "shapes",
                    .phase = GatePhase::device,
                    .stage = Stage::final,
                    .help = "every workload of the spec is right",
                    .former = "d4_shapes"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    std::size_t largest = 0;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      for (const TensorPlace& tensor : trial.at(w).tensors)
        largest = std::max(largest, tensor.size_bytes);
    }
    std::string scope = std::to_string(trial.workloads()) +
                        " workloads of the spec, tensors of up to " + std::to_string(largest) +
                        " bytes; nothing is claimed beyond their shapes";
    constexpr std::size_t kOffsets = std::size_t{1} << 31U;
    if (largest < kOffsets) scope += ": offsets of 32 bits would do";
    return pass(scope);
  }
};

}  // namespace

void register_gate_shapes(GateTable& table) {
  table.add(std::make_unique<Shapes>());
}

}  // namespace warpath::cuda
