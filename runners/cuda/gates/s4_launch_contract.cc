#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// A thread; a device keeps what its greediest kernel needed, for all threads at once.
constexpr int kMostLocalBytes = 32 << 10;

/// S4: what is launched is what the spec describes, and fits the device.
class LaunchContract final : public DeviceGate {
 public:
  [[nodiscard]] std::string_view name() const override { return "s4_launch_contract"; }
  [[nodiscard]] Status failure() const override { return Status::limits_exceeded; }
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const LoadedKernel& kernel = trial.kernel(w);
      const auto& places = trial.at(w).parameters;
      if (kernel.parameter_sizes.size() != places.size()) {
        return fail("the kernel takes " + std::to_string(kernel.parameter_sizes.size()) +
                    " parameters, the spec passes " + std::to_string(places.size()));
      }
      for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t passed = places[i].bytes.empty() ? sizeof(CUdeviceptr) : places[i].bytes.size();
        if (kernel.parameter_sizes[i] != passed) {
          return fail("parameter " + std::to_string(i + 1) + " has " +
                      std::to_string(kernel.parameter_sizes[i]) + " bytes, the spec passes " +
                      std::to_string(passed));
        }
      }
      const LaunchNumbers& numbers = trial.numbers(w);
      const BlockNeeds needs{
          .threads = static_cast<int>(numbers.block[0] * numbers.block[1] * numbers.block[2]),
          .registers_per_thread = kernel.registers,
          .static_smem_bytes = kernel.static_smem_bytes,
          .dynamic_smem_bytes = numbers.dynamic_smem_bytes};
      if (const auto problem = limits_problem(trial.bench().limits(), needs, numbers); !problem.empty()) {
        return fail("workload " + trial.at(w).workload->name + ": " + problem);
      }
      if (kernel.local_bytes > kMostLocalBytes) {
        return fail("local memory of " + std::to_string(kernel.local_bytes) +
                    " bytes a thread would stay with the context, at most " +
                    std::to_string(kMostLocalBytes) + " are allowed");
      }
    }
    return pass();
  }
};

}  // namespace

void register_device_gate_s4_launch_contract(DeviceGateRegistry& registry);
void register_device_gate_s4_launch_contract(DeviceGateRegistry& registry) {
  registry.add("s4_launch_contract",
               "parameters and resources are what spec and device allow",
               [] { return std::make_unique<LaunchContract>(); });
}

}  // namespace warpath::cuda
