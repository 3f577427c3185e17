#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

using namespace warpath::testing;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

const std::string kHelper =
    "#pragma once\n__device__ inline float half_of(float x) { return 0.5f * x; }\n";
const std::string kProject =
    "#include \"helper.cuh\"\n"
    R"(#include <cuda_runtime.h>
#include <iostream>
#include <vector>

__global__ void halve(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = half_of(x[i]);
}
__global__ void fill(float* y) { y[threadIdx.x] = 1.f; }

int main() {
  const int n = 100000;
  std::vector<float> x(n);
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  halve<<<(n + 127) / 128, 128>>>(a, b, n);
  std::cout << x.size() << std::endl;
}
)";

}  // namespace

TEST_SUITE_BEGIN("init");

TEST_CASE("a file as it lies in a project becomes a spec that validates and verifies on the host") {
  const TemporaryFolder folder;
  write_file(folder / "helper.cuh", kHelper);
  write_file(folder / "project.cu", kProject);
  const std::string spec = folder / "halve.json";
  const Words words{"init", folder / "project.cu", "halve", "--output", spec};
  const ProgramResult made = run_program(words);
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  CHECK(made.out.starts_with(spec + ": kernel halve of " + (folder / "project.cu").string() +
                             ", launched at line 20\n"));
  CHECK(made.out.find("guessed /tolerance = ") != std::string::npos);
  CHECK(made.out.find("/kernel/io/launch") == std::string::npos);  // the host code says it

  const json written = json::parse(read_file(spec));
  CHECK(written["kernel"]["io"]["args"][2]["value"] == 100000);
  CHECK(written["kernel"]["io"]["launch"]["grid"]["x"] == "ceil_div(n, BLOCK)");
  CHECK(written["tunables"][0]["default"] == 128);
  const std::string text = read_file(folder / "halve.kernel.cu");
  CHECK(text.find("half_of") != std::string::npos);
  CHECK(text.find("main") == std::string::npos);
  CHECK(text.find("iostream") == std::string::npos);

  const ProgramResult valid = run_program({"validate", spec});
  CHECK(valid.code == 0);
  CHECK(valid.out.find("halve: ok") != std::string::npos);
  CHECK(valid.out.find("guessed /tolerance = ") != std::string::npos);
  const ProgramResult evaluated = run_program({"evaluate", "--input", spec, "--runner", "host"});
  CAPTURE(evaluated.err);
  CHECK(evaluated.code == 0);
  CHECK(evaluated.out.find("baseline  ok") != std::string::npos);

  const ProgramResult again = run_program(words);
  CHECK(again.code == 64);
  CHECK(again.err.find("--force") != std::string::npos);
  Words forced = words;
  forced.push_back("--force");
  CHECK(run_program(forced).code == 0);
}

TEST_CASE("a launch in another file gives grid, block and sizes") {
  const TemporaryFolder folder;
  write_file(folder / "k.cu",
             "__global__ void twice(float* y, int n) {\n  int i = blockIdx.x * 64 + threadIdx.x;\n"
             "  if (i < n) y[i] *= 2.f;\n}\n");
  write_file(folder / "app.cpp",
             "void go(float* p) { int m = 640; twice<<<m / 64, 64>>>(p, m); }\n");
  const std::string spec = folder / "s.json";
  REQUIRE(
      run_program({"init", folder / "k.cu", "--main", folder / "app.cpp", "--output", spec}).code ==
      0);
  const json io = json::parse(read_file(spec))["kernel"]["io"];
  CHECK(io["launch"]["grid"]["x"] == "ceil_div(n, 64)");
  CHECK(io["launch"]["block"]["x"] == 64);
  CHECK(io["args"][1]["value"] == 640);
}

TEST_CASE("headers of the project around a file are found, and accessors are taken apart") {
  const TemporaryFolder folder;
  for (const char* const below : {"include/lib", "src/cuda"})
    std::filesystem::create_directories(folder.path() / below);
  write_file(folder / "README.md", "");
  write_file(folder / "include/lib/loop.cuh",
             "#pragma once\n#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; "
             "i < n; i += blockDim.x * gridDim.x)\n");
  write_file(folder / "src/half.h", "__device__ inline float half_of(float x) { return x / 2; }\n");
  write_file(
      folder / "src/cuda/k.cu",
      "#include <lib/loop.cuh>\n#include \"half.h\"\n"
      "template <typename T> __global__ void k(at::PackedTensorAccessor64<T, 2> y, const T* x) "
      "{\n  LOOP(i, y.size(0) * y.size(1)) {\n    const int r = i / y.size(1);\n"
      "    y[r][i - r * y.size(1)] = half_of(x[i]);\n  }\n}\n");
  const std::string spec = folder / "k.json";
  const ProgramResult made = run_program({"init", folder / "src/cuda/k.cu", "k", "--output", spec});
  CAPTURE(made.err);
  REQUIRE(made.code == 0);
  CHECK(made.out.find("y is a at::PackedTensorAccessor64 in the file") != std::string::npos);
  const std::string text = read_file(folder / "k.kernel.cu");
  CHECK(text.find("#define LOOP") != std::string::npos);
  CHECK(text.find("T* y, int y_size0, int y_size1") != std::string::npos);
  const ProgramResult run = run_program({"evaluate", "--input", spec, "--runner", "host"});
  CAPTURE(run.out);
  CAPTURE(run.err);
  CHECK(run.code == 0);
}

TEST_CASE("what init cannot do is one line, and nothing is written") {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& name, const std::string& text) {
    write_file(folder / name, text);
    return folder / name;
  };
  const std::string none = file("none.cu", "int main() {}\n"),
                    two = file("two.cu",
                               "__global__ void a(int* p) { *p = 1; }\n"
                               "__global__ void b(int* p) { *p = 1; }\n"),
                    by_value = file("struct.cu",
                                    "struct P { int n[2]; };\n__global__ void k(float* x, "
                                    "P p) { x[0] = p.n[0]; }\n"),
                    rows = file("rows.cu", "__global__ void k(float** x) { x[0][0] = 1; }\n"),
                    scalar = file("scalar.cu",
                                  "__device__ int g;\n__global__ void k(int n) { g = n; }\n"),
                    real = file("real.cu",
                                "__global__ void k(int* p, float f) { p[threadIdx.x] = f; }\n"
                                "void go(int* p, float f) { k<<<(int)f, 64>>>(p, f); }\n"),
                    hidden = file("hidden.cu",
                                  "#if 0\n__global__ void k(int* p) { *p = 1; }\n#endif\n"
                                  "__global__ void j(int* p) { *p = 1; }\n");
  const std::vector<std::pair<Words, std::string>> table{
      {{folder / "absent.cu"}, "absent.cu"},
      {{none}, "expected a file with a __global__ function"},
      {{two}, "expected the name of one of its kernels: a, b"},
      {{two, "c"}, "got c, expected one of its kernels: a, b"},
      {{hidden, "k"}, "a kernel that its preprocessor conditions do not exclude"},
      {{by_value}, "parameter p of type P"},
      {{rows}, "parameter x of type float**"},
      {{scalar}, "without a pointer"},
      {{real}, "write the spec by hand"},
      {{two, "a", "--main", none}, "a file that launches a"},
      {{two, "a", "--output", folder / "spec.txt"}, "a name that ends with .json"}};
  std::size_t before = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder.path())) before += one.exists();
  for (const auto& [words, expected] : table) {
    CAPTURE(expected);
    Words all{"init"};
    all.insert(all.end(), words.begin(), words.end());
    if (std::ranges::find(all, "--output") == all.end()) {
      all.emplace_back("--output");
      all.push_back(folder / "out.json");
    }
    const ProgramResult result = run_program(all);
    CAPTURE(result.err);
    CHECK(result.code == 64);
    CHECK(lines_of(result.err).size() == 1);
    CHECK(result.err.find(expected) != std::string::npos);
  }
  std::size_t after = 0;
  for (const auto& one : std::filesystem::directory_iterator(folder.path())) after += one.exists();
  CHECK(before == after);
}

TEST_SUITE_END();
