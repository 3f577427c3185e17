#include "runners/cuda/gates/declared_work.h"

#include <algorithm>

namespace warpath::cuda {
namespace {

/// Counted bytes vary by some percent.
constexpr double kNearOne = 0.9;

double measured_share(Trial& trial) {
  std::size_t w = 0;
  while (w + 1 < trial.workloads() && trial.at(w).workload->role != WorkloadRole::score) ++w;
  const PlacedWorkload& placed = trial.at(w);
  if (placed.bytes <= 0) return 1;
  const TrialRequest request{.candidate = trial.problem().setup().baseline,
                             .seed = trial.request().seed};
  Trial own(trial.bench(), trial.problem(), request);
  if (!own.profile().empty()) return 1;
  const auto read = own.counters.find("dram_read_bytes");
  if (read == own.counters.end()) return 1;
  const double share = (read->second + placed.writable_bytes()) / placed.bytes;
  return share < kNearOne ? share : 1;
}

}  // namespace

double moved_share_of_declared(Trial& trial) {
  std::optional<double>& known = trial.problem().moved_share_of_declared;
  if (!known) known = measured_share(trial);
  return *known;
}

}  // namespace warpath::cuda
