#pragma once

namespace warpath::cuda {

/// Body of `warpath worker device --gpu N`: serves GPU `gpu` over frames (messages.h) until `in_fd`
/// ends. Requests must come in the order open, tools, prepare, evaluate...; prepare may be
/// repeated. Kernels run in this process: if one faults, the reply says so and the process ends.
/// Returns the exit status: 0, or 3 if frames are damaged or the device cannot be used.
[[nodiscard]] int device_worker_main(int in_fd, int out_fd, int gpu);

/// The same in a thread of the engine, for debugging: returns when the stream ends or a kernel has
/// faulted.
void serve_device(int fd, int gpu);

}  // namespace warpath::cuda
