#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/compile/compile.h"

namespace warpath::cuda {

/// The first frame sent to a worker: what it cannot look up once sandboxed.
struct WorkerSetup {
  std::string nvrtc_path;
  std::vector<Header> headers;
  CompileLimits limits;
};
/// The worker's first frame.
struct WorkerHello {
  std::string problem;  ///< not empty: the worker cannot compile and has ended
  std::string nvrtc_version;
  std::string sandbox;  ///< Sandbox::summary()
  bool blocks_files = false;
};

[[nodiscard]] std::string encode(const WorkerSetup& setup);
[[nodiscard]] bool decode(std::string_view frame, WorkerSetup& setup);
[[nodiscard]] std::string encode(const WorkerHello& hello);
[[nodiscard]] bool decode(std::string_view frame, WorkerHello& hello);

/// Body of `warpath worker compile`: reads a setup and then requests from `in_fd`; writes a hello
/// and one result per request, in order, to `out_fd`. Opens NVRTC and compiles once, then gives up
/// file system access (runners/worker/sandbox.h) before reading the first request. Returns the exit
/// status when `in_fd` ends: 0, or 3 if frames are damaged or it cannot compile. Must be started
/// with an empty environment, in an empty folder.
[[nodiscard]] int compile_worker_main(int in_fd, int out_fd);

}  // namespace warpath::cuda
