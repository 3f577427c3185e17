#include "engine/plugin/runner.h"

#include <exception>

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

Outcome guarded_run(Runner& runner, const RunRequest& request, std::stop_token stop) {
  Outcome outcome;
  try {
    return runner.run(request, std::move(stop));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    outcome.log = "runner " + std::string(runner.name()) + " failed: " + e.what();
  } catch (...) {
    outcome.log = "runner " + std::string(runner.name()) + " failed";
  }
  outcome.status = Status::crashed;
  return outcome;
}

}  // namespace warpath
