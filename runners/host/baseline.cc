#include "runners/host/baseline.h"

namespace warpath::host {

Baseline::Baseline(const KernelSpec& spec, const Compiler& compiler)
    : spec_(spec), compiler_(compiler), variant_(baseline_variant(spec)) {}

std::string Baseline::object(const Workload& workload) {
  const Macros macros =
      macros_for(spec_, workload, variant_.tunables, variant_.compiler_options);
  const std::lock_guard lock(mutex_);
  if (const auto it = objects_.find(macros); it != objects_.end()) return it->second;
  CompileJob job;
  job.source = variant_.source;
  job.kernels = {variant_.kernel_name};
  job.macros = macros.text;
  job.integers = macros.integers;
  return objects_.emplace(macros, compiler_.compile(job).object_path).first->second;
}

}  // namespace warpath::host
