// An application for tests/experiments/capture.cc. It reaches the driver in one of three ways: linked to it
// (WARPATH_LINKED), by dlsym, or, with FORM=address in its environment, by cuGetProcAddress as NVIDIA's runtime does.
//
//   application SCENARIO

#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define DRIVER(X)                                                                                   \
  X(cuInit) X(cuModuleLoadData) X(cuModuleGetFunction) X(cuLibraryLoadData) X(cuLibraryGetKernel)   \
  X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuGraphLaunch)
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

namespace {

struct {
#define X(f) decltype(&::f) f = nullptr;
#define ENTRY(f) X(f)
  DRIVER(ENTRY)
#undef X
} api;

bool ok(CUresult result) {
  if (result != CUDA_SUCCESS) std::fprintf(stderr, "driver: error %d\n", result);
  return result == CUDA_SUCCESS;
}

void open_driver() {
#ifdef WARPATH_LINKED
#define X(f) api.f = &::f;
  DRIVER(ENTRY)
#undef X
#else
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) std::exit(90);
  const char* const form = std::getenv("FORM");
  if (form != nullptr && std::strcmp(form, "address") == 0) {
    using Lookup = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
    auto find = reinterpret_cast<Lookup>(::dlsym(library, "cuGetProcAddress_v2"));
    void* again = nullptr;  // the runtime asks the function for itself
    find("cuGetProcAddress", &again, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, nullptr);
    find = reinterpret_cast<Lookup>(again);
    const auto plain = [](std::string name) { return name.ends_with("_v2") ? name.substr(0, name.size() - 3) : name; };
#define X(f)                                                                                              \
  find(plain(TEXT(f)).c_str(), reinterpret_cast<void**>(&api.f), CUDA_VERSION,                        \
       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr);
    DRIVER(ENTRY)
#undef X
  } else {
#define X(f) api.f = reinterpret_cast<decltype(api.f)>(::dlsym(library, TEXT(f)));
    DRIVER(ENTRY)
#undef X
  }
#endif
}

struct Buffers {
  CUdeviceptr x = 0, y = 0, index = 0;
};

const char* const kPtx = "// .version 8.0\n.target sm_80\n";

void scale(CUfunction f, const Buffers& b, int n, unsigned block = 256) {
  CUdeviceptr y = b.y, x = b.x + 64;
  float factor = 0.5f;
  void* parameters[] = {&y, &x, &n, &factor};
  ok(api.cuLaunchKernel(f, (static_cast<unsigned>(n) + block - 1) / block, 1, 1, block, 1, 1, 0, nullptr, parameters, nullptr));
}

/// Twenty launches of scale at 4096, five at 1000, three of gather with a cluster, one of a C name with packed parameters.
void plain() {
  CUmodule module = nullptr, same = nullptr;
  CUfunction f = nullptr;
  CUlibrary library = nullptr;
  CUkernel gather = nullptr, named = nullptr;
  Buffers b;
  ok(api.cuModuleLoadData(&module, kPtx)) && ok(api.cuModuleLoadData(&same, kPtx));
  ok(api.cuModuleGetFunction(&f, module, "_Z5scalePfPKfif"));
  ok(api.cuLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  ok(api.cuLibraryGetKernel(&gather, library, "_Z6gatherIfEvPT_PKS0_PKii"));
  ok(api.cuLibraryGetKernel(&named, library, "plain"));
  ok(api.cuMemAlloc(&b.x, 4096 * 4 + 64)) && ok(api.cuMemAlloc(&b.y, 4096 * 4)) && ok(api.cuMemAlloc(&b.index, 512 * 4));
  std::vector<int> order(512);
  for (int i = 0; i < 512; ++i) order[static_cast<std::size_t>(i)] = 511 - i;
  ok(api.cuMemcpyHtoD(b.index, order.data(), 512 * 4));
  for (int i = 0; i < 20; ++i) scale(f, b, 4096);
  for (int i = 0; i < 5; ++i) scale(f, b, 1000);
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 4, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = 1024;
  config.attrs = &cluster, config.numAttrs = 1;
  int n = 512;
  void* parameters[] = {&b.y, &b.x, &b.index, &n};
  for (int i = 0; i < 3; ++i) ok(api.cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(gather), parameters, nullptr));
  struct {
    CUdeviceptr y;
    int n;
  } packed{b.y, 7};
  std::size_t bytes = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  ok(api.cuLaunchKernel(reinterpret_cast<CUfunction>(named), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  ok(api.cuGraphLaunch(nullptr, nullptr));
  ok(api.cuMemFree(b.y));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "plain";
  std::printf("application %s\n", scenario.c_str());
  std::fflush(stdout);
  if (scenario == "none") return 5;
  if (scenario == "child") {  // starts another program, which is recorded too
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/proc/self/exe", argv[0], "plain", nullptr);
      std::_Exit(91);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  open_driver();
  ok(api.cuInit(0));
  if (scenario == "plain") return plain(), 7;
  CUmodule module = nullptr;
  CUfunction f = nullptr;
  Buffers b;
  ok(api.cuModuleLoadData(&module, kPtx)) && ok(api.cuModuleGetFunction(&f, module, "_Z5scalePfPKfif"));
  ok(api.cuMemAlloc(&b.x, 8192 * 4)) && ok(api.cuMemAlloc(&b.y, 8192 * 4));
  if (scenario == "threads") {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 500; ++i) {
          CUdeviceptr own = 0;
          ok(api.cuMemAlloc(&own, 64));
          scale(f, b, 1024 * (t % 2 + 1));
          ok(api.cuMemFree(own));
        }
      });
    }
    return 0;
  }
  if (scenario == "many") {  // a scalar that differs each time
    for (int i = 1; i <= 5000; ++i) scale(f, b, i);
    return 0;
  }
  if (scenario == "refused") {  // a launch that the driver refuses
    scale(f, b, 4096, 4096);
    return 0;
  }
  for (int i = 0; i < 3; ++i) scale(f, b, 2048);  // killed
  ::raise(SIGKILL);
  return 0;
}
