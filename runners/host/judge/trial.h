#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/spec/spec.h"
#include "runners/host/options.h"

namespace warpath::host {

/// How many elements of each tensor one launch of the spec's own kernel reaches, by name: for a
/// spec whose shapes are guessed. Tensors end at an unmapped page and grow, their contents
/// repeated, until the launch ends without a fault, so that a tensor may come out a quarter larger
/// than it must be, and never smaller than the spec declares. nullopt if no such launch is found:
/// the kernel does not compile, a fault is no tensor's, or memory or time is over. `program`: as
/// WorkerClient has it.
[[nodiscard]] std::optional<std::map<std::string, std::int64_t>> reached_elements(
    const KernelSpec& spec,
    const Workload& workload,
    const HostOptions& options,
    const std::string& program);

}  // namespace warpath::host
