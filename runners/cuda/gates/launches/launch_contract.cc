#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Bytes per thread. A device keeps what its most demanding kernel needed, for all threads at once.
constexpr int kMostLocalBytes = 32 << 10;

/// The launch is the one that the spec describes, and fits the device.
class LaunchContract final : public DeviceGate {
 public:
  LaunchContract()
      : DeviceGate({.name = kLaunchGate,
                    .phase = GatePhase::device,
                    .help = "parameters and resources are what spec and device allow",
                    .failure = Status::limits_exceeded,
                    .former = "s4_launch_contract"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const ExtraNumbers* const extra = trial.extra(w);
      const auto& places = trial.at(w).parameters;
      std::vector<std::size_t> sizes;
      for (const ParameterPlace& place : places)
        sizes.push_back(place.bytes.empty() ? sizeof(CUdeviceptr) : place.bytes.size());
      std::vector<std::size_t> packed = sizes;
      if (!trial.at(w).structs.empty()) {
        packed.clear();
        for (const ParameterLayout& layout : trial.at(w).structs)
          packed.push_back(layout.size_bytes);
      }
      for (auto* const list : {&sizes, &packed}) {
        if (extra != nullptr)
          list->insert(list->end(), extra->scratch_bytes.size(), sizeof(CUdeviceptr));
      }
      std::string problem = kernel_problem(trial, trial.kernel(w), trial.numbers(w), packed);
      const auto judge_steps = [&](const std::vector<StepNumbers>& steps) {
        for (const StepNumbers& step : steps) {
          if (!problem.empty() || step.kind != LaunchStep::Kind::kernel) continue;
          std::vector<std::size_t> own;
          for (const std::uint32_t argument : step.arguments) own.push_back(sizes[argument]);
          problem = kernel_problem(trial, trial.step_kernel(w, step), step.launch, own);
          if (!problem.empty()) problem = "kernel " + step.kernel_name + ": " + problem;
        }
      };
      if (extra != nullptr) {
        judge_steps(extra->before);
        judge_steps(extra->after);
      }
      if (!problem.empty()) return fail("workload " + trial.at(w).workload->name + ": " + problem);
    }
    return pass();
  }

 private:
  /// `sizes`: bytes of what is passed.
  static std::string kernel_problem(Trial& trial,
                                    const KernelFunction& kernel,
                                    const LaunchNumbers& numbers,
                                    const std::vector<std::size_t>& sizes) {
    if (kernel.parameter_sizes.size() != sizes.size()) {
      return "the kernel takes " + std::to_string(kernel.parameter_sizes.size()) + " parameters, " +
             std::to_string(sizes.size()) + " are passed";
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (kernel.parameter_sizes[i] == sizes[i]) continue;
      return "parameter " + std::to_string(i + 1) + " has " +
             std::to_string(kernel.parameter_sizes[i]) + " bytes, " + std::to_string(sizes[i]) +
             " are passed";
    }
    const BlockNeeds needs{
        .threads = static_cast<int>(numbers.block[0] * numbers.block[1] * numbers.block[2]),
        .registers_per_thread = kernel.registers,
        .static_smem_bytes = kernel.static_smem_bytes,
        .dynamic_smem_bytes = numbers.dynamic_smem_bytes};
    if (std::string problem = limits_problem(trial.bench().limits(), needs, numbers);
        !problem.empty())
      return problem;
    if (kernel.local_bytes <= kMostLocalBytes) return "";
    return "local memory of " + std::to_string(kernel.local_bytes) +
           " bytes a thread would stay with the context, at most " +
           std::to_string(kMostLocalBytes) + " are allowed";
  }
};

}  // namespace

void register_gate_launch_contract(GateTable& table) {
  table.add(std::make_unique<LaunchContract>());
}

}  // namespace warpath::cuda
