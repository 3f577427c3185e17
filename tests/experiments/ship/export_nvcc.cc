#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/spec/launch.h"
#include "engine/spec/spec_load.h"
#include "tests/experiments/program.h"
#include "tests/experiments/ship/exported.h"
#include "tests/support/recorded_gpu_run.h"

using namespace warpath;
using namespace warpath::testing;
namespace fs = std::filesystem;

namespace {

/// An exported folder, made once.
const std::string& exported() {
  static const TemporaryFolder folder;
  static const std::string out = [] {
    const ManySided kernel = many_sided();
    test::record_gpu_run(folder / "run", kernel.spec, kernel.best);
    const ProgramResult made =
        run_program({"export", folder / "run", folder / "out", "--arch", "sm_90,sm_80"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    // clusters need 9.0
    CHECK(made.err.find("cannot run on sm_80") != std::string::npos);
    return folder / "out";
  }();
  return out;
}

void must(const std::string& folder, const std::vector<std::string>& argv) {
  const CommandOutput ran = run_in(folder, argv);
  CAPTURE(argv.back());
  REQUIRE_MESSAGE(ran.code == 0, ran.text);
  CHECK(ran.text.find("warning") == std::string::npos);
}

/// CUDA's driver and runtime, as far as launchers call them: they print what is launched.
constexpr const char* kFake = R"c(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef RUNTIME
#include <cuda_runtime_api.h>
#else
#include <cuda.h>
#endif

struct kernel { char name[64]; };

static void show(const char* name, const unsigned* g, const unsigned* b, const unsigned* c, size_t shared, void** p) {
  static const struct { const char* name; int sizes[10]; } known[] = {
      {"best.row_sums", {8, 8, 4, 4, 8, 1, 8, 8}}, {"best.finish", {8, 8, 4}}, {"original.row_sums", {8, 8, 4, 4, 8, 1}}};
  printf("%s grid %u %u %u block %u %u %u cluster %u %u %u shared %zu with", name, g[0], g[1], g[2], b[0], b[1], b[2], c[0],
         c[1], c[2], shared);
  for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
    if (strcmp(known[k].name, name) != 0) continue;
    for (int i = 0; known[k].sizes[i] != 0; ++i) {
      unsigned long long value = 0;
      memcpy(&value, p[i], (size_t)known[k].sizes[i]);
      printf(" %llx", value);
    }
  }
  printf("\n");
}
static const unsigned alone[3] = {1, 1, 1};
static int fails(const char* call) {
  const char* const wanted = getenv("FAILS");
  return wanted != NULL && strcmp(wanted, call) == 0;
}

#ifdef RUNTIME
static const struct kernel best[2] = {{"best.row_sums"}, {"best.finish"}}, original[1] = {{"original.row_sums"}};
const void* const row_sums_v2_best_kernels[2] = {&best[0], &best[1]};
const void* const row_sums_v2_original_kernels[1] = {&original[0]};
cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t error) { return error == cudaErrorInvalidValue ? "cudaErrorInvalidValue" : "?"; }
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* out, const void* kernel) {
  (void)out;
  return fails("image") && kernel == &best[0] ? cudaErrorInvalidValue : cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* kernel, enum cudaFuncAttribute which, int value) {
  (void)which;
  printf("attribute %s %d\n", ((const struct kernel*)kernel)->name, value);
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  (void)stream;
  printf("allocate %zu\n", bytes);
  *out = (void*)0x7000;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) { (void)stream; printf("release %p\n", memory); return cudaSuccess; }
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) {
  (void)stream;
  printf("clear %p %d %zu\n", memory, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 g, dim3 b, void** p, size_t shared, cudaStream_t stream) {
  (void)stream;
  const unsigned grid[3] = {g.x, g.y, g.z}, block[3] = {b.x, b.y, b.z};
  show(((const struct kernel*)kernel)->name, grid, block, alone, shared, p);
  return fails("launch") ? cudaErrorInvalidValue : cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, const void* kernel, void** p) {
  const unsigned grid[3] = {c->gridDim.x, c->gridDim.y, c->gridDim.z}, block[3] = {c->blockDim.x, c->blockDim.y, c->blockDim.z};
  const unsigned cluster[3] = {c->attrs[0].val.clusterDim.x, c->attrs[0].val.clusterDim.y, c->attrs[0].val.clusterDim.z};
  show(((const struct kernel*)kernel)->name, grid, block, cluster, c->dynamicSmemBytes, p);
  return fails("launch") ? cudaErrorInvalidValue : cudaSuccess;
}
#else
static int device_capability(void) { return getenv("CAPABILITY") == NULL ? 90 : atoi(getenv("CAPABILITY")); }
CUresult cuGetErrorName(CUresult error, const char** out) {
  *out = error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : "?";
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) { *device = 0; return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* out, CUdevice_attribute which, CUdevice device) {
  (void)device;
  *out = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? device_capability() / 10 : device_capability() % 10;
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  // both kernels of the test have names of their own in their code
  const char* const bytes = image;
  int best = 0;
  for (size_t i = 0; i < 4000 && !best; ++i) best = memcmp(bytes + i, "finish", 6) == 0;
  printf("load %s %s\n", best ? "best" : "original", bytes[0] == 0x7f ? "cubin" : "ptx");
  *module = (CUmodule)(best ? "best" : "original");
  return CUDA_SUCCESS;
}
CUresult cuModuleLoad(CUmodule* module, const char* file) {
  *module = (CUmodule)(strstr(file, "best") != NULL ? "best" : "original");
  return fopen(file, "rb") == NULL ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) { (void)module; return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  struct kernel* const kernel = malloc(sizeof *kernel);
  snprintf(kernel->name, sizeof kernel->name, "%s.%s", (const char*)module, name);
  *out = (CUfunction)kernel;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction kernel, CUfunction_attribute which, int value) {
  (void)which;
  printf("attribute %s %d\n", ((const struct kernel*)kernel)->name, value);
  return CUDA_SUCCESS;
}
CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  (void)stream;
  printf("allocate %zu\n", bytes);
  *out = 0x7000;
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr memory, CUstream stream) { (void)stream; printf("release %p\n", (void*)memory); return CUDA_SUCCESS; }
CUresult cuMemsetD8Async(CUdeviceptr memory, unsigned char value, size_t bytes, CUstream stream) {
  (void)stream;
  printf("clear %p %d %zu\n", (void*)memory, value, bytes);
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void** p, void** extra) {
  (void)stream, (void)extra;
  const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  show(((const struct kernel*)kernel)->name, grid, block, alone, shared, p);
  return fails("launch") ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction kernel, void** p, void** extra) {
  (void)extra;
  const unsigned grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ}, block[3] = {c->blockDimX, c->blockDimY, c->blockDimZ};
  const unsigned cluster[3] = {c->attrs[0].value.clusterDim.x, c->attrs[0].value.clusterDim.y, c->attrs[0].value.clusterDim.z};
  show(((const struct kernel*)kernel)->name, grid, block, cluster, c->sharedMemBytes, p);
  return fails("launch") ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
#endif
)c";

/// Launches for each line of its input: y x rows cols MODE, as numbers; "off" and "on" switch.
constexpr const char* kProbe = R"c(
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <row_sums_v2.h>
int main(int argc, char** argv) {
  struct row_sums_v2_kernels k;
  char line[200];
#ifndef RUNTIME
  const int loaded = argc > 2 ? row_sums_v2_load_files(&k, argv[1], argv[2]) : row_sums_v2_load(&k);
  if (loaded != row_sums_v2_hit) return printf("not loaded: %s\n", row_sums_v2_reason()), 1;
#else
  (void)argc, (void)argv, (void)k;
#endif
  while (fgets(line, sizeof line, stdin) != NULL) {
    long long y, x, rows, cols, mode;
    if (strncmp(line, "o", 1) == 0) {
      row_sums_v2_enable(strncmp(line, "on", 2) == 0);
      continue;
    }
    if (sscanf(line, "%lli %lli %lli %lli %lli", &y, &x, &rows, &cols, &mode) != 5) return 2;
#ifdef RUNTIME
    const int status = row_sums_v2_launch((float*)y, (const float*)x, 0.5f, (int)rows, cols, 1, mode, 2, NULL);
#else
    const int status = row_sums_v2_launch_driver(&k, (float*)y, (const float*)x, 0.5f, (int)rows, cols, 1, mode, 2, NULL);
#endif
    printf("status %d %s\n", status, row_sums_v2_reason());
  }
  const struct row_sums_v2_counts c = row_sums_v2_count();
  printf("counts %llu %llu %llu\n", c.hits, c.fallbacks, c.errors);
#ifndef RUNTIME
  row_sums_v2_unload(&k);
#endif
  return 0;
}
)c";

/// A probe of one launcher, built against the fakes.
class Probe {
 public:
  explicit Probe(const std::string& launcher) : launcher_(launcher) {
    write_file(folder_ / "fake.c", kFake);
    write_file(folder_ / "probe.c", kProbe);
    std::vector<std::string> cc{"cc",       "-std=c11",      "-Wall", "-Wextra", "-Werror",
                                "-isystem", cuda_includes(), "-I",    exported()};
    if (launcher == "runtime") cc.push_back("-DRUNTIME");
    const auto with = [&](const std::vector<std::string>& more) {
      std::vector<std::string> out = cc;
      out.insert(out.end(), more.begin(), more.end());
      return out;
    };
    const std::string library = launcher == "runtime" ? "libcudart.so" : "libcuda.so";
    must(folder_.path(), with({"-shared", "-fPIC", "fake.c", "-o", library}));
    std::vector<std::string> sources{"probe.c", exported() + "/row_sums_v2_" + launcher + ".c",
                                     exported() + "/row_sums_v2_state.c"};
    if (launcher == "driver") sources.push_back(exported() + "/row_sums_v2_images.c");
    for (const char* const word : {"-o", "probe", "-L.", "-Wl,-rpath,$ORIGIN"})
      sources.emplace_back(word);
    sources.push_back(launcher == "runtime" ? "-lcudart" : "-lcuda");
    must(folder_.path(), with(sources));
  }

  /// What it prints for these lines; `environment`: "NAME=value".
  std::vector<std::string> run(const std::string& lines,
                               const std::string& environment = "X=1",
                               const std::string& arguments = "") const {
    write_file(folder_ / "lines", lines);
    const CommandOutput ran = run_in(folder_.path(), {"/bin/sh", "-c",
                                                      "LD_LIBRARY_PATH=. " + environment +
                                                          " ./probe " + arguments + " < lines"});
    CHECK_MESSAGE(ran.code == 0, ran.text);
    return lines_of(ran.text);
  }

 private:
  TemporaryFolder folder_;
  std::string launcher_;
};

/// Both, built once.
const std::map<std::string, Probe>& probes() {
  static const auto* const made = [] {
    auto* const out = new std::map<std::string, Probe>;
    for (const char* const launcher : {"driver", "runtime"}) out->try_emplace(launcher, launcher);
    return out;
  }();
  return *made;
}

std::string launch_text(const LaunchPlan& plan, const Bindings& bindings) {
  const LaunchNumbers n = evaluate(plan, bindings, "test");
  std::string out;
  const auto add = [&](const char* name, const std::array<std::int64_t, 3>& of) {
    out += std::string(" ") + name;
    for (const std::int64_t x : of) out += " " + std::to_string(x);
  };
  add("grid", n.grid), add("block", n.block), add("cluster", n.cluster);
  return out + " shared " + std::to_string(n.dynamic_smem_bytes) + " with";
}

bool has(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

}  // namespace

TEST_SUITE_BEGIN("export_nvcc");

TEST_CASE("every file of an export compiles without warnings, and its library links") {
  const CommandOutput made = run_in(exported(), {"make", "-j2", "NVCC=" + nvcc(), "CC=cc -Werror",
                                                 "CXX=c++ -Werror", "all", "driver"});
  REQUIRE_MESSAGE(made.code == 0, made.text);
  CHECK(made.text.find("warning") == std::string::npos);
  const CommandOutput symbols = run_in(exported(), {"nm", "-D", "build/librow_sums_v2.so"});
  CHECK(symbols.text.find(" T row_sums_v2_launch") != std::string::npos);
  // an application may have a kernel of this name
  CHECK(symbols.text.find(" T row_sums\n") == std::string::npos);
  for (const char* const code : {"best.sm_90.cubin", "best.sm_90.ptx", "original.sm_90.cubin",
                                 "original.sm_80.cubin", "original.sm_80.ptx"})
    CHECK(fs::exists(fs::path(exported()) / "code" / code));
  CHECK_FALSE(fs::exists(fs::path(exported()) / "code/best.sm_80.cubin"));
  const CommandOutput tested = run_in(exported(), {"build/row_sums_v2_test"});
  CHECK((tested.code == 77 || tested.code == 0));  // 77: no device
  fs::remove_all(fs::path(exported()) / "build");
}

TEST_CASE("headers of libraries go with the kernels, and are what both are built with") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "lib/small/detail");
  write_file(folder / "lib/small/scale.cuh",
             "#pragma once\n#include \"detail/factor.cuh\"\n#include <cuda_fp16.h>\n"
             "__device__ inline float scaled(float x) { return small::kFactor * x; }\n");
  write_file(folder / "lib/small/detail/factor.cuh",
             "#pragma once\nnamespace small { constexpr float kFactor = 2.0f; }\n");
  ManySided kernel = many_sided();
  nlohmann::json spec = to_json(kernel.spec);
  const std::string include = "#include <small/scale.cuh>\n";
  spec["kernel"]["source_code"] = include + kernel.spec.source;
  spec["kernel"]["system_include_folders"] = {folder / "lib"};
  kernel.spec = parse_specs(spec.dump(), "many_sided.json", "", false).front();
  kernel.best.source = include + kernel.best.source;
  kernel.best.source.replace(kernel.best.source.find("y[i] += partial[i]"), 18,
                             "y[i] += scaled(partial[i])");
  test::record_gpu_run(folder / "run", kernel.spec, kernel.best);
  const ProgramResult made =
      run_program({"export", folder / "run", folder / "out", "--arch", "sm_90"});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  fs::rename(folder / "lib", folder / "gone");
  CHECK(read_file(folder / "out/headers/small/detail/factor.cuh") ==
        read_file(folder / "gone/small/detail/factor.cuh"));
  CHECK(read_file(folder / "out/headers/small/scale.cuh")
            .find("#include <small/detail/factor.cuh>") != std::string::npos);
  CHECK(read_file(folder / "out/README.md").find("| `headers/` |") != std::string::npos);
  const auto files = nlohmann::json::parse(read_file(folder / "out/provenance.json")).at("files");
  CHECK(files.contains("headers/small/scale.cuh"));
  const CommandOutput built =
      run_in(folder / "out", {"make", "-j2", "NVCC=" + nvcc(), "build/librow_sums_v2.so"});
  CHECK_MESSAGE(built.code == 0, built.text);
  const ProgramResult refused =
      run_program({"export", folder / "run", folder / "again", "--arch", "none"});
  CHECK(refused.code == 64);
  CHECK(refused.err.find("headers that have changed") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "again"));
}

TEST_CASE("the header is one of C, and of C++") {
  const TemporaryFolder folder;
  write_file(folder / "a.c", "#include \"row_sums_v2.h\"\n#include <cuda.h>\nint a;\n");
  write_file(folder / "b.cc",
             "#include <cuda_runtime_api.h>\n#include <cuda.h>\n#include \"row_sums_v2.h\"\n"
             "int f(float* y, cudaStream_t s) { return row_sums_v2_launch(y, y, 1, 2, 3, 0, 3, 2, "
             "s); }\n");
  for (const std::string file : {"a.c", "b.cc"})
    must(folder.path(), {"cc", "-Wall", "-Wextra", "-Werror", "-pedantic", "-isystem",
                         cuda_includes(), "-I", exported(), "-c", file, "-o", "out.o"});
}

TEST_CASE("grid, block, cluster, shared memory and arguments are what the spec's expressions say") {
  const ManySided kernel = many_sided();
  for (const auto& [launcher, probe] : probes()) {
    CAPTURE(launcher);
    for (const auto& [rows, cols] :
         std::vector<std::pair<int, std::int64_t>>{{1, 4}, {1000, 64}, {257, 4096}, {1000000, 8}}) {
      CAPTURE(rows);
      CAPTURE(cols);
      const Bindings sizes{{"rows", rows}, {"cols", cols}, {"negate", 1},
                           {"MODE", 3},    {"depth", 2},   {"BLOCK", 256}};
      const auto said = probe.run("0x10000 0x100000000 " + std::to_string(rows) + " " +
                                  std::to_string(cols) + " 3\n");
      const auto hex = [](std::int64_t x) {
        char text[32];
        std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(x));
        return std::string(text);
      };
      const std::int64_t spare = 0x7000 + (4 * rows + 255) / 256 * 256;
      CHECK(has(said, "best.row_sums" + launch_text(kernel.best.launch, sizes) +
                          " 10000 100000000 3f000000 " + hex(rows) + " " + hex(cols) + " 1 7000 " +
                          hex(spare)));
      CHECK(has(said, "best.finish" + launch_text(kernel.best.after[0].launch, sizes) +
                          " 10000 7000 " + hex(rows)));
      CHECK(has(said, "attribute best.row_sums 69632"));
      CHECK(
          has(said, "allocate " + std::to_string(spare - 0x7000 + (rows + 100 + 255) / 256 * 256)));
      CHECK(has(said, "clear 0x10000 0 " + std::to_string(4 * rows)));
      CHECK(has(said, "clear 0x7000 0 " + std::to_string(4 * rows)));
      CHECK(has(said, "release 0x7000"));
      CHECK(has(said, "status 0 "));
    }
  }
}

TEST_CASE(
    "what the best kernel does not hold for goes to the original, with the reason; what neither "
    "holds for is not launched") {
  const ManySided kernel = many_sided();
  const Bindings sizes{{"rows", 1000}, {"cols", 64}, {"negate", 1},
                       {"MODE", 3},    {"depth", 2}, {"BLOCK", 128}};
  const std::string original =
      "original.row_sums" + launch_text(baseline_variant(kernel.spec).launch, sizes);
  for (const auto& [launcher, probe] : probes()) {
    CAPTURE(launcher);
    const auto fallback = [&, &probe = probe](const std::string& lines, const std::string& why) {
      const auto said = probe.run(lines);
      CAPTURE(why);
      CHECK(has(said, "status 1 " + why));
      CHECK(has(said, "counts 0 1 0"));
      bool launched = false;
      for (const std::string& line : said) {
        launched = launched || line.starts_with(original);
        CHECK_FALSE(line.starts_with("best."));
      }
      CHECK(launched);
    };
    fallback("0x10000 0x100000004 1000 64 3\n", "x is not aligned to 16 bytes");
    fallback("0x100000100 0x100000000 1000 64 3\n", "x and y overlap");
    fallback("off\n0x10000 0x100000000 1000 64 3\n", "turned off by row_sums_v2_enable(0)");

    const auto said = probe.run(
        "0x10000 0x100000000 1000 64 4\n0x10000 0x100000000 0 64 3\n0x10000 0x100000000 1000 65 3\n"
        "0x10001 0x100000000 1000 64 3\n");
    CHECK(has(said, "status -1 MODE: the kernel is compiled for another value"));
    CHECK(has(said, "status -1 the sizes give no launch that CUDA permits"));
    CHECK(has(said, "status -1 a constraint does not hold: cols % 4 == 0"));
    CHECK(has(said, "status -1 y is not aligned to 4 bytes"));
    CHECK(has(said, "counts 0 0 4"));
  }
}

TEST_CASE("a launch that CUDA refuses is an error that names it, and is counted") {
  const auto failed = probes().at("driver").run("0x10000 0x100000000 1000 64 3\n", "FAILS=launch");
  CHECK(has(failed, "status -2 CUDA_ERROR_INVALID_VALUE"));
  CHECK(has(failed, "counts 0 0 1"));
  CHECK(has(failed, "release 0x7000"));
  CHECK(has(probes().at("runtime").run("0x10000 0x100000000 1000 64 3\n", "FAILS=launch"),
            "status -2 cudaErrorInvalidValue"));
}

TEST_CASE("a device is given the code that it can run, and without the best kernel the original") {
  const std::string line = "0x10000 0x100000000 1000 64 3\n";
  const auto& driver = probes().at("driver");
  auto said = driver.run(line);
  CHECK(has(said, "load best cubin"));
  CHECK(has(said, "load original cubin"));
  said = driver.run(line, "CAPABILITY=100");
  CHECK(has(said, "load best ptx"));
  CHECK(has(said, "status 0 "));
  said = driver.run(line, "CAPABILITY=86");
  CHECK(has(said, "load original cubin"));
  CHECK(has(said, "status 1 no machine code of the best kernel for this device"));
  said =
      driver.run(line, "X=1",
                 exported() + "/code/best.sm_90.cubin " + exported() + "/code/original.sm_90.ptx");
  CHECK(has(said, "status 0 "));
  CHECK(has(probes().at("runtime").run(line, "FAILS=image"),
            "status 1 no machine code of the best kernel for this device"));
}

TEST_CASE("exports of the specs compile: 16-bit types, bytes, row pointers, several workloads") {
  for (const char* const name : {"bias_gelu_res", "spmv_csr", "hist256", "grouped_gemm_bf16"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    const KernelSpec spec =
        load_specs((source_root() / "specs" / (std::string(name) + ".json")).string()).front();
    Variant other = baseline_variant(spec);
    other.source += "__device__ int other() { return 1; }\n";
    test::record_gpu_run(folder / "run", spec, other);
    const ProgramResult made =
        run_program({"export", folder / "run", folder / "out", "--arch", "none"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    for (const char* const part : {"_driver.c", "_runtime.c", "_test.cc"})
      must(folder / "out",
           {"cc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-DSOURCE_FOLDER=\"\"",
            "-isystem", cuda_includes(), name + std::string(part)});
  }
}

TEST_SUITE_END();
