#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/error.h"
#include "engine/options.h"
#include "experiments/build_facts.h"
#include "experiments/command.h"
#include "experiments/environment.h"

namespace warpath {
namespace {

struct Finding {
  enum class State : unsigned char { ok, missing, broken };  ///< missing: something optional; broken: something required
  State state = State::ok;
  std::string what;
  std::string detail;  ///< what was found, or what to do
};

/// Opens a shared library for as long as the program runs. The first of `names` that there is; null if none.
void* open_library(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
Function* symbol(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

/// "13.0" from the driver's and the CUDA libraries' way of counting, 13000.
std::string cuda_version(int packed) {
  return std::to_string(packed / 1000) + "." + std::to_string(packed % 1000 / 10);
}

Finding compiler_finding() {
  const std::string compiler = HostOptions{}.compiler;
  const std::string path = find_program(compiler);
  if (path.empty()) return {Finding::State::broken, "C++ compiler", compiler + " is not on PATH: apt-get install g++"};
  const std::string command = "echo '#include <atomic>' | '" + path + "' -std=c++20 -fsyntax-only -x c++ - 2>/dev/null";
  if (std::system(command.c_str()) != 0) {  // NOLINT(cert-env33-c): a path that access() accepted, quoted
    return {Finding::State::broken, "C++ compiler", path + " does not compile C++20: apt-get install g++"};
  }
  return {Finding::State::ok, "C++ compiler", path + " (the host runner compiles kernels with it)"};
}

Finding outdir_finding(const std::string& outdir) {
  std::filesystem::path folder = std::filesystem::absolute(outdir);
  while (!std::filesystem::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  std::string probe = (folder / ".warpath_doctor_XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0) return {Finding::State::broken, "output folder", folder.string() + " cannot be written: choose another with --outdir"};
  close(file);
  unlink(probe.c_str());
  std::error_code ignored;
  const auto space = std::filesystem::space(folder, ignored);
  return {Finding::State::ok, "output folder", outdir + " (" + std::to_string(space.available >> 30U) + " GiB free)"};
}

Finding headers_finding() {
  if (kHasCudaHeaders) return {Finding::State::ok, "CUDA headers", "found when the program was built"};
  return {Finding::State::missing, "CUDA headers", "not found when the program was built; not needed: it has no CUDA runner"};
}

Finding nvrtc_finding() {
  void* library = open_library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
  auto* version = symbol<int(int*, int*)>(library, "nvrtcVersion");
  int major = 0, minor = 0;
  if (version == nullptr || version(&major, &minor) != 0) {
    return {Finding::State::missing, "NVRTC", "no libnvrtc: install NVIDIA's cuda-nvrtc package to compile for GPUs"};
  }
  return {Finding::State::ok, "NVRTC", std::to_string(major) + "." + std::to_string(minor)};
}

std::vector<Finding> gpu_findings() {
  void* library = open_library({"libcuda.so.1"});
  auto* init = symbol<int(unsigned)>(library, "cuInit");
  auto* driver_version = symbol<int(int*)>(library, "cuDriverGetVersion");
  auto* device_count = symbol<int(int*)>(library, "cuDeviceGetCount");
  auto* device_name = symbol<int(char*, int, int)>(library, "cuDeviceGetName");
  const std::string no_gpu = "none: kernels run on the CPU (host runner), timings are CPU timings";
  int version = 0, count = 0;
  if (init == nullptr || driver_version == nullptr || device_count == nullptr || device_name == nullptr ||
      driver_version(&version) != 0) {
    return {{Finding::State::missing, "CUDA driver", "no libcuda.so.1: install the NVIDIA driver to use a GPU"},
            {Finding::State::missing, "GPU", no_gpu}};
  }
  std::vector<Finding> findings{{Finding::State::ok, "CUDA driver", "CUDA " + cuda_version(version)}};
  if (init(0) != 0 || device_count(&count) != 0 || count == 0) {
    findings.push_back({Finding::State::missing, "GPU", no_gpu});
    return findings;
  }
  for (int i = 0; i < count; ++i) {
    char name[256] = "";
    device_name(name, sizeof name, i);
    findings.push_back({Finding::State::ok, "GPU " + std::to_string(i), name});
  }
  return findings;
}

Finding tool_finding(const std::string& tool, const std::string& package) {
  const std::string path = find_program(tool);
  if (!path.empty()) return {Finding::State::ok, tool, path};
  return {Finding::State::missing, tool, "not on PATH; optional, part of NVIDIA's " + package};
}

int doctor(const Arguments& arguments, const Program&) {
  const Environment environment = probe_environment();
  std::vector<Finding> findings{
      {Finding::State::ok, "program", "revision " + environment.revision + ", built by " + environment.build_compiler},
      {Finding::State::ok, "CPU", environment.cpu + ", " + std::to_string(environment.cores) + " cores"},
      {Finding::State::ok, "memory", std::to_string(environment.memory_mib) + " MiB"},
      compiler_finding(),
      outdir_finding(arguments.value("outdir").value_or("out")),
      headers_finding(),
      nvrtc_finding()};
  for (Finding& finding : gpu_findings()) findings.push_back(std::move(finding));
  findings.push_back(tool_finding("ncu", "nsight-compute"));
  findings.push_back(tool_finding("nvdisasm", "cuda-nvdisasm"));
  findings.push_back(tool_finding("compute-sanitizer", "cuda-sanitizer"));
  bool broken = false;
  for (const Finding& finding : findings) {
    const char* const state = finding.state == Finding::State::ok        ? "ok"
                              : finding.state == Finding::State::missing ? "missing"
                                                                         : "BROKEN";
    std::printf("%-8s %-18s %s\n", state, finding.what.c_str(), finding.detail.c_str());
    broken = broken || finding.state == Finding::State::broken;
  }
  std::printf("%s\n", broken ? "something required is missing" : "everything required is there");
  return broken ? static_cast<int>(ErrorCode::environment) : 0;
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .usage = "[--outdir DIR]",
          .help = "what this machine offers: compiler, GPU, CUDA libraries, tools; exit code 3 if something required is missing",
          .flags = {{.name = "outdir", .value = "DIR", .help = "the output folder to try (out)"}},
          .run = doctor};
}

}  // namespace warpath
