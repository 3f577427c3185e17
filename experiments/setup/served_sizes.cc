#include "experiments/setup/served_sizes.h"

#include <algorithm>

#include "engine/base/format.h"
#include "engine/plugin/runner.h"
#include "engine/plugin/versions.h"
#include "engine/run/record.h"
#include "engine/spec/spec_fields_io.h"

namespace warpath {

std::string_view role_text(WorkloadRole role) {
  return std::ranges::find(EnumWords<WorkloadRole>::rows, role,
                           &std::pair<std::string_view, WorkloadRole>::second)
      ->first;
}

const Outcome* counted_outcome(const RecordedNode& node) {
  if (node.final_outcome) return &*node.final_outcome;
  return node.outcome ? &*node.outcome : nullptr;
}

std::vector<ServedSize> served_sizes(const RecordedRun& run, std::size_t node) {
  return served_sizes(run.spec(), run.device(), run.variant(node),
                      counted_outcome(run.nodes()[node]), counted_outcome(run.nodes()[0]));
}

std::vector<ServedSize> served_sizes(const KernelSpec& spec,
                                     const DeviceFacts& device,
                                     const Variant& variant,
                                     const Outcome* outcome,
                                     const Outcome* baseline) {
  std::vector<ServedSize> out;
  const std::vector<const Variant*> kernels = kernels_of(variant);
  for (const Workload* const workload : workloads_for(spec, device)) {
    ServedSize& one = out.emplace_back();
    one.workload = workload->name;
    one.role = workload->role;
    one.weight = workload->weight;
    one.values = sizes_of(spec, *workload);
    const Variant* const kernel = &version_for(spec, variant, *workload);
    one.version = static_cast<std::size_t>(std::ranges::find(kernels, kernel) - kernels.begin());
    if (outcome == nullptr || baseline == nullptr) continue;
    const double time = typical_ns(*outcome, one.workload);
    const double before =
        paired_baseline_ns(*outcome, one.workload, typical_ns(*baseline, one.workload));
    if (!(time > 0) || !(before > 0)) continue;  // also NaN
    one.time_ns = time;
    one.baseline_ns = before;
  }
  return out;
}

std::string differing_text(const std::vector<ServedSize>& sizes, const Bindings& values) {
  std::string out;
  for (const auto& [name, value] : values) {
    const bool same = std::ranges::all_of(sizes, [&n = name, v = value](const ServedSize& one) {
      const auto it = one.values.find(n);
      return it != one.values.end() && it->second == v;
    });
    if (!same) out += (out.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  }
  return out;
}

std::vector<std::vector<std::string>> size_rows(const std::vector<ServedSize>& sizes,
                                                const Variant& variant) {
  std::vector<std::vector<std::string>> rows{
      {"workload", "role", "size", "kernel", "baseline ms", "ms", "speed-up"}};
  const std::vector<const Variant*> kernels = kernels_of(variant);
  for (const ServedSize& one : sizes) {
    const bool timed = one.time_ns > 0;
    const std::string size = differing_text(sizes, one.values);
    rows.push_back({one.workload, std::string(role_text(one.role)), size.empty() ? "-" : size,
                    kernels.size() == 1 ? "the one for all sizes"
                    : kernels[one.version]->when.empty()
                        ? "general"
                        : "version " + std::to_string(one.version + 1),
                    timed ? ms_text(one.baseline_ns * 1e-6) : "-",
                    timed ? ms_text(one.time_ns * 1e-6) : "verified",
                    timed ? ratio_text(one.speedup()) : "-"});
  }
  return rows;
}

}  // namespace warpath
