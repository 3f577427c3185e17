#include "priors/tactics/experience.h"

#include <set>

#include "engine/plugin/runner.h"
#include "priors/evidence/diagnosis_view.h"
#include "priors/evidence/roofline.h"

namespace warpath {
namespace {

/// Operations a byte of device memory below which a kernel streams, and from which it is dense. A
/// GPU computes 20 to 100 in the time of a byte.
constexpr double kStreaming = 2;
constexpr double kDense = 16;

const std::set<std::string, std::less<>> kTensorTypes{"float16", "bfloat16", "tf32", "int8"};

std::string_view device_class(const DeviceFacts& device) {
  if (device.is_gpu) return "gpu";
  return device.runner.empty() ? "unknown" : std::string_view(device.runner);
}

}  // namespace

std::string_view kernel_class(const KernelSpec& spec, const DeviceFacts& device) {
  for (const Workload* const workload : workloads_for(spec, device)) {
    if (workload->role != WorkloadRole::score || !spec.bound.bytes) continue;
    const Bindings bindings = spec.bindings(*workload, spec.default_tunables());
    const auto bytes = static_cast<double>(spec.bound.bytes->evaluate(bindings, spec.name));
    double all = 0, tensor = 0;
    for (const auto& [type, flops] : spec.bound.flops) {
      const auto count = static_cast<double>(flops.evaluate(bindings, spec.name));
      all += count;
      if (kTensorTypes.contains(type)) tensor += count;
    }
    if (!(bytes > 0) || !(all > 0)) return "unknown";
    if (tensor > all / 2) return "tensor";
    return all < kStreaming * bytes ? "streaming" : all < kDense * bytes ? "mixed" : "dense";
  }
  return "unknown";
}

std::string_view bottleneck_class(const Outcome* outcome) {
  if (outcome == nullptr || !outcome->diagnosis) return "unknown";
  const RooflineGaps gaps =
      roofline_gaps(DiagnosisView(*outcome->diagnosis, measured_time_ns(*outcome)));
  return gaps.known ? bound_name(gaps) : "unknown";
}

std::string tactic_context(const ProposalContext& context) {
  std::string out(device_class(context.at.device));
  out.append("/").append(kernel_class(context.at.spec, context.at.device));
  return out.append("/").append(bottleneck_class(context.outcome));
}

std::string_view came_from(const ProposalContext& context) {
  return context.path.empty() ? kStart : std::string_view(context.path.back()->move);
}

}  // namespace warpath
