#include "runners/cuda/finalists/workload_sizes.h"

#include "engine/base/error.h"
#include "engine/spec/spec_check.h"
#include "engine/spec/variant.h"

namespace warpath::cuda {

Workload with_sizes(const Workload& workload, const std::map<std::string, std::int64_t>& sizes) {
  Workload out = workload;
  for (const auto& [name, value] : sizes) out.scalars[name] = value;
  return out;
}

bool is_valid_alone(const KernelSpec& spec, const Workload& workload) {
  KernelSpec only = spec;
  only.workloads = {workload};
  try {
    check_spec(only);
    std::string why;
    return satisfies_constraints(only, baseline_variant(only), why);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace warpath::cuda
