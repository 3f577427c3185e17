#include "runners/host/judge/launch_steps.h"

#include <algorithm>
#include <string>
#include <vector>

namespace warpath::host {
namespace {

std::vector<StepCommand> step_commands(const Variant& kernel,
                                       const std::vector<StepNumbers>& steps) {
  const std::vector<std::string> kernels = step_kernels(kernel);
  std::vector<StepCommand> out;
  for (const StepNumbers& step : steps) {
    const bool zero = step.kind == LaunchStep::Kind::zero;
    const auto at = zero ? 0 : std::ranges::find(kernels, step.kernel_name) - kernels.begin();
    out.push_back({.zero = zero,
                   .kernel = static_cast<std::uint32_t>(at),
                   .numbers = step.launch,
                   .arguments = step.arguments});
  }
  return out;
}

}  // namespace

void set_extras(const Variant& kernel, const ExtraNumbers& extra, LaunchCommand& to) {
  to.scratch_bytes.clear();
  for (const auto bytes : extra.scratch_bytes)
    to.scratch_bytes.push_back(static_cast<std::uint64_t>(bytes));
  to.before = step_commands(kernel, extra.before);
  to.after = step_commands(kernel, extra.after);
}

}  // namespace warpath::host
