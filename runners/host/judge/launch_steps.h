#pragma once

#include "engine/spec/variant.h"
#include "runners/host/execute/worker_protocol.h"

namespace warpath::host {

/// Replaces the steps and scratch buffers of `to` by those of `kernel` under one workload.
void set_extras(const Variant& kernel, const ExtraNumbers& extra, LaunchCommand& to);

}  // namespace warpath::host
