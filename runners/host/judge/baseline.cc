#include "runners/host/judge/baseline.h"

namespace warpath::host {

Baseline::Baseline(const KernelSpec& spec, const Compiler& compiler)
    : spec_(spec), compiler_(compiler), variant_(baseline_variant(spec)) {}

std::string Baseline::object(const Variant& variant, const Workload& workload) {
  const std::pair key{variant_key(variant),
                      macros_for(spec_, workload, variant.tunables, variant.compiler_options)};
  const Macros& macros = key.second;
  const std::lock_guard lock(mutex_);
  if (const auto it = objects_.find(key); it != objects_.end()) return it->second;
  CompileJob job;
  job.source = variant.source;
  job.kernels = {variant.kernel_name};
  const std::vector<std::string> steps = step_kernels(variant);
  job.kernels.insert(job.kernels.end(), steps.begin(), steps.end());
  job.macros = macros.text;
  job.integers = macros.integers;
  return objects_.emplace(key, compiler_.compile(job).object_path).first->second;
}

}  // namespace warpath::host
