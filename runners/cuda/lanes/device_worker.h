#pragma once

namespace warpath::cuda {

/// Body of `warpath worker device --gpu N`: serves GPU `gpu` over frames (messages.h) until `in_fd`
/// ends. The requests must come in the order open, tools, prepare, evaluate...; prepare may be
/// repeated. Kernels run in this process: a faulting one poisons it, which the reply says, and then
/// it ends. Returns the exit status: 0, or 3 where frames are damaged or the device cannot be used.
[[nodiscard]] int device_worker_main(int in_fd, int out_fd, int gpu);

/// The same in a thread of the engine, for debugging: returns when the stream ends, or when a
/// kernel has poisoned the process.
void serve_device(int fd, int gpu);

}  // namespace warpath::cuda
