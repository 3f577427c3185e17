#include "engine/plugin/runner.h"

namespace warpath {

std::vector<const Workload*> workloads_for(const KernelSpec& spec, const DeviceFacts& device) {
  const WorkloadTarget own = device.is_gpu ? WorkloadTarget::gpu : WorkloadTarget::host;
  std::vector<const Workload*> out;
  for (const WorkloadTarget wanted : {own, WorkloadTarget::any}) {
    for (const Workload& workload : spec.workloads) {
      if (workload.target == wanted) out.push_back(&workload);
    }
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace warpath
