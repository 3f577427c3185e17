#include "engine/base/format.h"
#include "engine/base/statistics.h"
#include "runners/cuda/gates/declared_work.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Tolerated share of the bound, since measured peaks are slightly too low.
constexpr double kSlack = 0.97;

/// No launch is faster than its compulsory bytes and operations at the peaks measured on this
/// device.
class PhysicsFloor final : public DeviceGate {
 public:
  PhysicsFloor()
      : DeviceGate({.name = "physics_floor",
                    .phase = GatePhase::device,
                    .help = "no launch is faster than the declared work can be done",
                    .former = "d16_physics_floor"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    std::string figures;
    for (std::size_t w = 0; w < trial.workloads(); ++w) {
      const PlacedWorkload& placed = trial.at(w);
      if (placed.workload->role == WorkloadRole::regress || placed.floor_ns <= 0) continue;
      const Sampling& sampling = trial.timing(w);
      const double ns = median(sampling.scored_ns());
      const std::string text = "workload " + placed.workload->name + ": " +
                               percent_text(placed.floor_ns / ns, 1) + " of the bound of " +
                               number_text(placed.floor_ns * 1e-3, 3) + " us";
      // Where the spec declares more than there is to do, its bound is no bound.
      if (ns < kSlack * placed.floor_ns &&
          ns < kSlack * moved_share_of_declared(trial) * placed.floor_ns)
        return fail(text);
      figures += (figures.empty() ? "" : "; ") + text;
    }
    return figures.empty() ? not_run("the spec declares no bound") : pass(figures);
  }
};

}  // namespace

void register_gate_physics_floor(GateTable& table) {
  table.add(std::make_unique<PhysicsFloor>());
}

}  // namespace warpath::cuda
