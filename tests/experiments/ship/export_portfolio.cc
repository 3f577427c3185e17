#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/spec/spec_load.h"
#include "tests/experiments/program.h"
#include "tests/experiments/ship/exported.h"
#include "tests/support/recorded_gpu_run.h"

using namespace warpath;
using namespace warpath::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kSpec = R"json({
  "name": "twice",
  "kernel": {
    "source_code": "extern \"C\" __global__ void twice(float* y, const float* x, int N, int C) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N * C) y[i] = 2 * x[i];\n}\n",
    "metadata": {"kernel_name": "twice"},
    "io": {
      "args": [
        {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["N", "C"], "dtype": "float32"}},
        {"name": "x", "type": "tensor", "role": "input", "tensor_spec": {"shape": ["N", "C"], "dtype": "float32", "init": {"kind": "randn"}}},
        {"name": "N", "type": "int", "value": 8},
        {"name": "C", "type": "int", "value": 64}
      ],
      "launch": {"grid": {"x": "ceil_div(N * C, 64)"}, "block": {"x": 64}}
    },
    "workloads": [
      {"name": "narrow", "role": "score", "target": "gpu", "scalars": {"N": 96, "C": 64}},
      {"name": "wide", "role": "score", "target": "gpu", "scalars": {"N": 64, "C": 1024}},
      {"name": "odd", "role": "regress", "target": "gpu", "scalars": {"N": 37, "C": 29}}
    ]
  }
})json";

/// A kernel for one number of columns, beside the spec's for any other; `text` tells it from
/// others.
Variant for_columns(const KernelSpec& spec, std::int64_t columns, const std::string& text) {
  Variant out = baseline_variant(spec);
  out.versions = {out};
  out.when = {{"C", columns}};
  out.source += text;
  return out;
}

/// A run in which one kernel is four times as fast at 64 columns and another three times at 1024,
/// and no kernel is fast at both; exported.
const std::string& exported_portfolio() {
  static const TemporaryFolder folder;
  static const std::string out = [] {
    json text = json::parse(kSpec);
    text["reference"] = {{"kernel",
                          {{"source_code", text["kernel"]["source_code"]},
                           {"kernel_name", "twice"},
                           {"launch", text["kernel"]["io"]["launch"]}}}};
    const KernelSpec spec = parse_specs(text.dump(), "twice.json", "", false).front();
    test::record_gpu_run(folder / "run", spec,
                         {for_columns(spec, 64, "__device__ int narrow() { return 1; }\n"),
                          for_columns(spec, 1024, "__device__ int wide() { return 2; }\n")},
                         [](const Variant& kernel, const Workload&) {
                           if (kernel.source.find("narrow()") != std::string::npos) return 4.0;
                           return kernel.source.find("wide()") != std::string::npos ? 3.0 : 1.0;
                         });
    const ProgramResult made =
        run_program({"export", folder / "run", folder / "out", "--arch", "sm_90"});
    REQUIRE_MESSAGE(made.code == 0, made.err);
    return folder / "out";
  }();
  return out;
}

/// The CUDA runtime as far as the launcher calls it, and an application that launches at sizes.
constexpr const char* kApplication = R"c(
static const char first, second, original;
const void* const twice_best_kernels[1] = {&first};
const void* const twice_best_1_kernels[1] = {&second};
const void* const twice_original_kernels[1] = {&original};
cudaError_t cudaGetDevice(int* device) { *device = 0; return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
const char* cudaGetErrorName(cudaError_t error) { (void)error; return "?"; }
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* out, const void* kernel) {
  (void)out;
  return getenv("WITHOUT_FIRST") != NULL && kernel == &first ? cudaErrorInvalidValue : cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* kernel, enum cudaFuncAttribute which, int value) { (void)kernel; (void)which; (void)value; return cudaSuccess; }
cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) { (void)out; (void)bytes; (void)stream; return cudaSuccess; }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) { (void)memory; (void)stream; return cudaSuccess; }
cudaError_t cudaMemsetAsync(void* memory, int value, size_t bytes, cudaStream_t stream) { (void)memory; (void)value; (void)bytes; (void)stream; return cudaSuccess; }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel, void** parameters) { (void)config; (void)kernel; (void)parameters; return cudaSuccess; }
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** parameters, size_t shared, cudaStream_t stream) {
  (void)grid; (void)block; (void)parameters; (void)shared; (void)stream;
  printf("%s ", kernel == &first ? "first" : kernel == &second ? "second" : "original");
  return cudaSuccess;
}
int main(void) {
  static float y[4], x[4];
  const int sizes[4][2] = {{96, 64}, {64, 1024}, {37, 29}, {5, 64}};
  for (int i = 0; i < 4; ++i) {
    const int status = twice_launch(y, x, sizes[i][0], sizes[i][1], NULL);
    printf("%d %s: %s\n", status, twice_kernel(), twice_reason());
  }
  const struct twice_counts count = twice_count();
  printf("counts %llu %llu %llu\n", count.hits, count.fallbacks, count.errors);
  return 0;
}
)c";

}  // namespace

TEST_SUITE_BEGIN("export_nvcc");

TEST_CASE("a run of several sizes is exported with the kernels of its portfolio") {
  const json provenance = json::parse(read_file(exported_portfolio() + "/provenance.json"));
  REQUIRE(provenance["kernels"].size() == 2);
  CHECK(provenance["kernels"][0]["name"] == "best");
  CHECK(provenance["kernels"][1]["name"] == "best_1");
  CHECK(provenance["kernels"][0]["compiled_in"] != provenance["kernels"][1]["compiled_in"]);
  for (const json& kernel : provenance["kernels"])
    CHECK(kernel["architectures"] == json::array({"sm_90"}));
  // the geometric mean of four and three
  CHECK(provenance["portfolio_speedup"].get<double>() == doctest::Approx(3.4641).epsilon(1e-3));
  for (const char* const file : {"best_kernel.cu", "best_1_kernel.cu", "original_kernel.cu",
                                 "code/best_1.sm_90.cubin", "twice_best_1.cu"})
    CHECK_MESSAGE(fs::exists(fs::path(exported_portfolio()) / file), file);
  const std::string page = read_file(exported_portfolio() + "/README.md");
  // that no finals judged a kernel is said where its contract is
  for (const json& kernel : provenance["kernels"]) {
    const std::string heading = "`" + kernel["name"].get<std::string>() + "_kernel.cu`";
    const bool said = page.find(heading + ", judged and timed by the search") != std::string::npos;
    CHECK(said != kernel["by_finals"].get<bool>());
  }
  CHECK(page.find("2 kernels for different sizes") != std::string::npos);
  CHECK(page.find("Not in the test: odd") != std::string::npos);
}

TEST_CASE("sizes decide which kernel of a portfolio is launched, the original where none holds") {
  const std::string folder = exported_portfolio();
  write_file(folder + "/application.c",
             std::string("#include <stdio.h>\n#include <stdlib.h>\n#include <cuda_runtime_api.h>\n"
                         "#include \"twice.h\"\n") +
                 kApplication);
  const CommandOutput built =
      run_in(folder, {"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-isystem", cuda_includes(),
                      "application.c", "twice_runtime.c", "twice_state.c", "-o", "application"});
  REQUIRE_MESSAGE(built.code == 0, built.text);
  const bool narrow_first =
      read_file(folder + "/best_kernel.cu").find("narrow()") != std::string::npos;
  const std::string narrow = narrow_first ? "first 0 best: \n" : "second 0 best_1: \n";
  const std::string wide = narrow_first ? "second 0 best_1: \n" : "first 0 best: \n";
  const std::string other = "original 1 original: C: the kernel is compiled for another value\n";
  CHECK(run_in(folder, {"./application"}).text ==
        narrow + wide + other + narrow + "counts 3 1 0\n");

  // a device without code of the first kernel still has the second
  const std::string left = run_in(folder, {"env", "WITHOUT_FIRST=1", "./application"}).text;
  CHECK(left.find("second 0 best_1: \n") != std::string::npos);
  CHECK(left.find("first") == std::string::npos);
}

TEST_CASE("every file of an exported portfolio compiles without warnings, and its library links") {
  const CommandOutput made = run_in(
      exported_portfolio(),
      {"make", "-j2", "NVCC=" + nvcc(), "CC=cc -Werror", "CXX=c++ -Werror", "all", "driver"});
  REQUIRE_MESSAGE(made.code == 0, made.text);
  CHECK(made.text.find("warning") == std::string::npos);
}

TEST_SUITE_END();
