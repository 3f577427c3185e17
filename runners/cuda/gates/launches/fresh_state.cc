#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Results and module variables must be the same after a fresh load and after many launches.
class FreshState final : public DeviceGate {
 public:
  FreshState()
      : DeviceGate({.name = "fresh_state",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "a fresh module and a used one give the same",
                    .former = "d9_fresh_state"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const InputSet& set = trial.declared_set(w, 0);
      trial.reload();
      const auto before = globals(trial, w);
      trial.launch_fresh(w, 0, set, 2 * trial.bench().secret());
      Comparison result = trial.compare(w, 0, set, "the first launch of a fresh module");
      if (!result.passed)
        return fail(where(trial, w, set) + "first launch of a fresh module: " + result.detail);
      for (int i = 0; i < trial.warm_launches(w); ++i) {
        if (trial.at(w).mutates_inputs()) trial.problem().restore(w, 0, set);
        trial.launch(w, 0);
      }
      trial.launch_fresh(w, 0, set, 2 * trial.bench().secret());
      result = trial.compare(w, 0, set, "warm launches");
      if (!result.passed)
        return fail(where(trial, w, set) + "after many launches: " + result.detail);
      if (globals(trial, w) != before) {
        return fail(
            "variables of the module change from launch to launch: state that outlives a launch");
      }
    }
    return pass();
  }

 private:
  /// Bytes of all variables that the driver can find.
  static std::vector<std::byte> globals(Trial& trial, std::size_t w) {
    std::vector<std::byte> all;
    const DriverApi& api = trial.bench().api();
    const auto code = trial.candidate().code_of[w];
    trial.bench().synchronize("a launch");
    for (const std::string& name : trial.candidate().codes[code].globals) {
      CUdeviceptr address = 0;
      std::size_t bytes = 0;
      if (api.cuModuleGetGlobal(&address, &bytes, trial.kernel(w).module.get(), name.c_str()) !=
          CUDA_SUCCESS)
        continue;
      const std::size_t begin = all.size();
      all.resize(begin + bytes);
      require(api, api.cuMemcpyDtoH(all.data() + begin, address, bytes), "cannot read a variable");
    }
    return all;
  }
};

}  // namespace

void register_gate_fresh_state(GateTable& table) {
  table.add(std::make_unique<FreshState>());
}

}  // namespace warpath::cuda
