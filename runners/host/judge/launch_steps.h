#pragma once

#include <vector>

#include "engine/base/hash.h"
#include "engine/spec/variant.h"
#include "runners/host/execute/worker_protocol.h"

namespace warpath::host {

/// Replaces the steps and scratch buffers of `to` by those of `kernel` under one workload.
void set_extras(const Variant& kernel, const ExtraNumbers& extra, LaunchCommand& to);
/// Adds what is launched, by workload, beside the code.
void add_launches(Hasher& hash,
                  const std::vector<LaunchNumbers>& numbers,
                  const std::vector<ExtraNumbers>& extras);

}  // namespace warpath::host
