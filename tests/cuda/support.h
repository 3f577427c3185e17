#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runners/cuda/compile/compile.h"
#include "runners/cuda/compile/compile_pool.h"
#include "runners/cuda/compile/headers.h"

/// Shared by the tests of runners/cuda.
namespace cuda_test {

/// The compiler of this machine. Only suites whose name begins with "nvrtc" may call it: main()
/// skips those where there is none.
[[nodiscard]] const warpath::cuda::Nvrtc& nvrtc();
[[nodiscard]] const std::vector<warpath::cuda::Header>& headers();

/// Compiles in this process.
[[nodiscard]] warpath::cuda::CompileResult compile(const std::string& source,
                                                   const std::string& kernel = "k",
                                                   const std::vector<std::string>& options = {},
                                                   const std::string& arch = "sm_90a");

/// A pool whose workers are this test program.
[[nodiscard]] warpath::cuda::CompilePoolOptions pool_options(
    int workers, warpath::cuda::CompileLimits limits = {});

/// Folder of the kernels under tests/data/cuda.
[[nodiscard]] std::filesystem::path data_folder();
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace cuda_test
