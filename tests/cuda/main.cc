#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "runners/cuda/compile_worker.h"
#include "tests/cuda/support.h"

namespace cuda_test {

const warpath::cuda::Nvrtc& nvrtc() {
  static std::string why;
  static const auto opened = warpath::cuda::Nvrtc::open_any(why);
  return opened.value();
}

const std::vector<warpath::cuda::Header>& headers() {
  static const auto loaded = warpath::cuda::load_headers(warpath::cuda::include_folders(nvrtc().path()));
  return loaded;
}

warpath::cuda::CompileResult compile(const std::string& source, const std::string& kernel,
                                     const std::vector<std::string>& options, const std::string& arch) {
  return warpath::cuda::compile(nvrtc(), headers(), {source, kernel, arch, options}, {});
}

warpath::cuda::CompilePoolOptions pool_options(int workers, warpath::cuda::CompileLimits limits) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  limits.memory_bytes = 0;  // the sanitizers reserve more address space than any limit
#endif
  return {.worker_argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "worker", "compile"},
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

/// `test_cuda worker compile` is a compile worker, so that the pool's tests need no other program. A suite that compiles is
/// skipped (exit status 77) where NVRTC is missing.
int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  if (argc == 3 && std::string_view(argv[1]) == "worker" && std::string_view(argv[2]) == "compile") {
    return warpath::cuda::compile_worker_main(0, 1);
  }
  for (int i = 1; i < argc; ++i) {
    if (!std::string_view(argv[i]).starts_with("--test-suite=nvrtc")) continue;
    std::string why;
    if (!warpath::cuda::Nvrtc::open_any(why)) {
      std::printf("skipped: %s\n", why.c_str());
      return kSkipped;
    }
  }
  return doctest::Context(argc, argv).run();
}
