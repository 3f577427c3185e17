#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

constexpr int kSamples = 7;
constexpr double kLeastOfUntouched = 0.8;
constexpr double kLongNs = 20e6;

/// After a flush, data that the kernel has just used must not be faster to read than equal data
/// elsewhere that it has not used.
class L2Hygiene final : public DeviceGate {
 public:
  L2Hygiene()
      : DeviceGate({.name = "l2_residue",
                    .phase = GatePhase::device,
                    .stage = Stage::confirmation,
                    .help = "the cache keeps nothing over a flush",
                    .former = "d15_l2",
                    .by_times = true}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      if (trial.at(w).workload->role == WorkloadRole::regress || trial.at(w).mutates_inputs())
        continue;
      if (trial.launch_ns(w) > kLongNs) continue;  // too long for an effect of cached data to show
      std::vector<double> touched, untouched;
      const std::size_t far = trial.at(w).slots.size() > 2 ? trial.at(w).slots.size() - 2 : 0;
      if (far == 0) return not_run("too few input sets");
      // equal contents: other ones may take another time
      trial.problem().restore(w, far, trial.declared_set(w, 0));
      for (int i = 0; i < kSamples; ++i) {
        for (int warm = 0; warm < 3; ++warm) trial.launch(w, 0);
        trial.bench().flush_l2();
        touched.push_back(trial.bench().time([&] { trial.launch(w, 0); }, "a cold launch"));
        for (int warm = 0; warm < 3; ++warm) trial.launch(w, 0);
        trial.bench().flush_l2();
        untouched.push_back(trial.bench().time([&] { trial.launch(w, far); }, "a cold launch"));
        trial.bench().flush_l2();
      }
      trial.problem().restore(w, far, trial.declared_set(w, far));
      if (median(touched) >= kLeastOfUntouched * median(untouched)) continue;
      return fail("workload " + trial.at(w).workload->name + ": cold launches take " +
                  number_text(median(touched) * 1e-3, 3) + " us on data seen before, " +
                  number_text(median(untouched) * 1e-3, 3) + " us on others");
    }
    return pass();
  }
};

}  // namespace

void register_gate_l2_residue(GateTable& table) {
  table.add(std::make_unique<L2Hygiene>());
}

}  // namespace warpath::cuda
