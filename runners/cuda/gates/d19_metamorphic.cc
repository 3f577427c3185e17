#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// D19: needs relations that a spec declares; none can be declared yet.
class Metamorphic final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "d19_metamorphic"; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    static_cast<void>(trial);
    return not_run("a reference judges every launch; the spec declares no relation");
  }
};

}  // namespace

void register_device_gate_d19_metamorphic(DeviceGateRegistry& registry);
void register_device_gate_d19_metamorphic(DeviceGateRegistry& registry) {
  registry.add("d19_metamorphic",
               "relations between results hold",
               [] { return std::make_unique<Metamorphic>(); });
}

}  // namespace warpath::cuda
