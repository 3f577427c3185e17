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

void add_launches(Hasher& hash,
                  const std::vector<LaunchNumbers>& numbers,
                  const std::vector<ExtraNumbers>& extras) {
  const auto add = [&](const LaunchNumbers& one) {
    for (const auto& triple : {one.grid, one.block}) {
      for (const auto extent : triple) hash.add(extent);
    }
    hash.add(one.dynamic_smem_bytes);
  };
  for (const auto& one : numbers) add(one);
  for (const auto& extra : extras) {
    for (const auto bytes : extra.scratch_bytes) hash.add(bytes);
    for (const auto* list : {&extra.before, &extra.after}) {
      for (const StepNumbers& step : *list) {
        hash.add(step.kernel_name);
        add(step.launch);
        for (const auto argument : step.arguments) hash.add(static_cast<std::uint64_t>(argument));
      }
    }
  }
}

}  // namespace warpath::host
