#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "runners/cuda/compile/compile_worker.h"
#include "runners/host/execute/worker.h"
#if __has_include(<cuda.h>)
#include "runners/cuda/driver/driver.h"
#endif
#include "engine/base/error.h"
#include "runners/cuda/compile/nvrtc_places.h"
#include "runners/cuda/compile/triton.h"
#include "tests/cuda/support.h"

#if __has_include(<cuda.h>)
int compete();  // quiet_gpu.cc
#endif

namespace cuda_test {

const warpath::cuda::Nvrtc& nvrtc() {
  static std::string why;
  static const auto opened = warpath::cuda::open_nvrtc(why);
  return opened.value();
}

const std::vector<warpath::cuda::Header>& headers() {
  static const auto loaded =
      warpath::cuda::load_headers(warpath::cuda::include_folders(nvrtc().path()));
  return loaded;
}

warpath::cuda::CompileResult compile(const std::string& source,
                                     const std::string& kernel,
                                     const std::vector<std::string>& options,
                                     const std::string& arch) {
  return warpath::cuda::compile(nvrtc(), headers(), {source, kernel, arch, options}, {});
}

warpath::cuda::CompilePoolOptions pool_options(int workers, warpath::cuda::CompileLimits limits) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  limits.memory_bytes = 0;  // the sanitizers reserve more address space than any limit
#endif
  return {.worker_argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "worker",
                          "compile"},
          .setup = {nvrtc().path(), headers(), limits},
          .workers = workers};
}

std::filesystem::path data_folder() {
  return std::filesystem::path(WARPATH_SOURCE_ROOT) / "tests" / "data" / "cuda";
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace cuda_test

namespace {

/// Why no GPU can be used; empty if one can.
std::string why_no_gpu() {
  std::string why = "built without the CUDA headers";
#if __has_include(<cuda.h>)
  const auto driver = warpath::cuda::load_driver(why);
  int count = 0;
  if (driver && driver->cuInit(0) == CUDA_SUCCESS)
    static_cast<void>(driver->cuDeviceGetCount(&count));
  if (driver) why = count > 0 ? "" : "no GPU";
#endif
  return why;
}

/// Why Triton cannot compile; empty if it can.
std::string why_no_triton() {
  try {
    const warpath::cuda::Triton found("");
    return "";
  } catch (const warpath::Error& error) {
    return error.what();
  }
}

}  // namespace

/// `test_cuda compete` keeps a GPU busy. `test_cuda worker compile` and `test_cuda worker host` are
/// workers, so that the tests need no other program. A suite that compiles is skipped (exit status
/// 77) where NVRTC is missing, one that launches kernels where there is no GPU.
int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  if (argc == 3 && std::string_view(argv[1]) == "worker" &&
      std::string_view(argv[2]) == "compile") {
    return warpath::cuda::compile_worker_main(0, 1);
  }
  if (argc == 3 && std::string_view(argv[1]) == "worker" && std::string_view(argv[2]) == "host") {
    return warpath::host::worker_main();
  }
#if __has_include(<cuda.h>)
  if (argc == 2 && std::string_view(argv[1]) == "compete") return compete();
#endif
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool gpu = argument.starts_with("--test-suite=gpu");
    const bool triton = argument.starts_with("--test-suite=triton");
    if (!gpu && !triton && !argument.starts_with("--test-suite=nvrtc")) continue;
    std::string why = gpu ? why_no_gpu() : triton ? why_no_triton() : "";
    if (!why.empty() || !warpath::cuda::open_nvrtc(why)) {
      std::printf("skipped: %s\n", why.c_str());
      return kSkipped;
    }
  }
  return doctest::Context(argc, argv).run();
}
