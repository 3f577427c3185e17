#include <algorithm>

#include "engine/base/format.h"
#include "runners/cuda/gates/declared_work.h"
#include "runners/cuda/gates/device_gate.h"

namespace warpath::cuda {
namespace {

/// Share of the declared traffic that must be seen: cache lines at the edges may be shared, and
/// counters are sampled.
constexpr double kLeastCounted = 0.9;

/// A cold launch moves the compulsory bytes. What was written may still be in the level-2 cache.
class CounterGate final : public DeviceGate {
 public:
  CounterGate()
      : DeviceGate({.name = kCountersGate,
                    .phase = GatePhase::device,
                    .stage = Stage::final,
                    .help = "a cold launch reads what must be read",
                    .former = "d26_counters"}) {}
  [[nodiscard]] GateResult judge(Trial& trial) const override {
    if (trial.counters.empty()) {
      if (const std::string why = trial.profile(); !why.empty()) return not_run(why);
    }
    std::size_t w = 0;
    while (w + 1 < trial.workloads() && trial.at(w).workload->role != WorkloadRole::score) ++w;
    const PlacedWorkload& placed = trial.at(w);
    const auto read = trial.counters.find("dram_read_bytes");
    if (read == trial.counters.end()) return not_run("this chip counts no bytes");
    if (placed.bytes <= 0) return not_run("the spec declares no bytes");
    const auto enough = [&](double bytes) {
      return read->second >= kLeastCounted * (bytes - placed.writable_bytes());
    };
    const std::string text = number_text(read->second, 4) + " bytes read, " +
                             number_text(placed.bytes, 4) + " declared to be moved";
    if (enough(placed.bytes)) return pass(text);
    const double share = moved_share_of_declared(trial);
    if (share == 1 || !enough(share * placed.bytes)) return fail(text);
    return pass(text + "; the spec's own kernel moves " + percent_text(share, 0) + " of them");
  }
};

}  // namespace

void register_gate_counters(GateTable& table) {
  table.add(std::make_unique<CounterGate>());
}

}  // namespace warpath::cuda
