#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/compile/compile.h"

namespace warpath::cuda {

/// The first frame that a worker gets: what it may not look up by itself any more.
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

/// Body of `warpath worker compile`: reads a setup and then requests from `in_fd`, writes a hello
/// and a result for each request, in order, to `out_fd`. Opens NVRTC and compiles once, then gives
/// up the file system (runners/worker/sandbox.h) before it reads the first request. Returns the
/// exit status when `in_fd` ends: 0, or 3 where the frames are damaged or it cannot compile. The
/// parent starts it with an empty environment, in an empty folder.
[[nodiscard]] int compile_worker_main(int in_fd, int out_fd);

}  // namespace warpath::cuda
