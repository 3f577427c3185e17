#pragma once

namespace warpath::host {

/// Exit code of a worker that ran out of memory.
inline constexpr int kWorkerOutOfMemory = 71;

/// The worker process of the host runner (`warpath worker host`): loads compiled kernels and
/// launches them on request until its standard input closes. Seals itself
/// (runners/worker/sandbox.h, ComputeOnly) before loading anything. Speaks the messages of
/// worker_protocol.h on descriptor 0. Returns the exit code.
int worker_main();

}  // namespace warpath::host
