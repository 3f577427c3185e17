#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/spec/local_headers.h"
#include "engine/spec/spec_load.h"
#include "experiments/init/spec_draft.h"
#include "experiments/project/host_launch.h"
#include "moves/contract/kernel_contract.h"
#include "tests/experiments/program.h"
#include "tests/support/host_runs.h"

using namespace warpath;
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

TEST_CASE("sizes that are constants of the file are smaller on the host") {
  const TemporaryFolder folder;
  write_file(folder / "product.cu", R"(
#define N 1024
__global__ void product(const float* a, const float* b, float* c) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < N && col < N) {
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += a[row * N + k] * b[k * N + col];
    c[row * N + col] = sum;
  }
}
void run(float* a, float* b, float* c) {
  dim3 block(16, 16), grid((N + 15) / 16, (N + 15) / 16);
  product<<<grid, block>>>(a, b, c);
}
)");
  const std::string spec = folder / "product.json";
  const ProgramResult made = run_program({"init", folder / "product.cu", "--output", spec});
  REQUIRE_MESSAGE(made.code == 0, made.err);
  const KernelSpec read = load_specs(spec).front();
  const ArgSpec& size = read.io.args.back();
  CHECK((size.name == "N" && size.is_meta));
  CHECK(read.io.args[2].role == ArgRole::output);
  CHECK(read.io.args[2].tensor->shape[1].text() == "N");
  CHECK(read.workloads[0].scalars.empty());
  CHECK(read.workloads[1].scalars.contains("N"));
  const ProgramResult run = run_program({"evaluate", "--input", spec, "--runner", "host"});
  CHECK_MESSAGE(run.code == 0, run.err);
}

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

TEST_CASE("where a guard keeps threads from a barrier a guessed size is whole blocks") {
  const TemporaryFolder folder;
  const std::string spec = folder / "s.json";
  const std::string file = (source_root() / "tests/data/init/waits_in_guard.cu").string();
  REQUIRE(run_program({"init", file, "--output", spec}).code == 0);
  const auto n = load_specs(spec).front().workloads[1].scalars.at("n");
  CHECK(std::get<std::int64_t>(n) % 32 == 0);
  const ProgramResult run = run_program({"evaluate", "--input", spec, "--runner", "host"});
  CHECK_MESSAGE(run.code == 0, run.err);
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

TEST_CASE(
    "of several kernels of a name one is taken, which is said, or the one that is asked for") {
  const TemporaryFolder folder;
  write_file(folder / "same.cu",
             "__global__ void k(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }\n"
             "__global__ void k(float* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }\n");
  const auto type_of_first = [&](const std::string& kernel, bool noted) {
    const std::string path = folder / "out.json";
    const ProgramResult result =
        run_program({"init", folder / "same.cu", kernel, "--output", path, "--force"});
    CAPTURE(result.err);
    CHECK(result.code == 0);
    CHECK((result.out.find("2 kernels are named k") != std::string::npos) == noted);
    return load_specs(path).front().io.args[0].tensor->dtype;
  };
  CHECK(type_of_first("k", true) == DType::i32);
  CHECK(type_of_first("k:1", false) == DType::i32);
  CHECK(type_of_first("k:2", false) == DType::f32);
}

TEST_CASE("a macro that only a build defines is asked for, and is what runs") {
  const TemporaryFolder folder;
  write_file(folder / "built.cu",
             "__global__ void k(int* p, int n) {\n"
             "  int i = blockIdx.x * width + threadIdx.x;\n"
             "  if (i < n) p[i] = MY_INDEX_BASE;\n}\n");
  const std::string path = folder / "out.json";
  const ProgramResult result = run_program({"init", folder / "built.cu", "--output", path});
  CAPTURE(result.err);
  REQUIRE(result.code == 0);
  const KernelSpec spec = load_specs(path).front();
  CHECK(spec.tunables.front().name == "width");
  CHECK(spec.io.launch.block[0].text() == "width");
  CHECK(result.out.find("guessed width = 16: width is declared nowhere") != std::string::npos);
  CHECK(result.out.find("guessed MY_INDEX_BASE = 0: MY_INDEX_BASE is declared nowhere") !=
        std::string::npos);
  CHECK(run_program({"evaluate", "--input", path, "--runner", "host"}).code == 0);
}

TEST_CASE(
    "a constant of a block of several axes is no tunable where threads of a warp work together") {
  const TemporaryFolder folder;
  const auto tunables = [&](const std::string& sum) {
    write_file(folder / "tile.cu",
               "constexpr int kTile = 32;\n__device__ float all(float v) { return " + sum +
                   "; }\n__global__ void k(float* y, const float* x, int n) {\n"
                   "  __shared__ float part[8][kTile];\n"
                   "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  part[threadIdx.y][threadIdx.x] = i < n ? x[i] : 0.f;\n  __syncthreads();\n"
                   "  float v = all(part[threadIdx.y][threadIdx.x]);\n"
                   "  if (threadIdx.y == 0 && i < n) y[i] = v;\n}\n");
    const std::string path = folder / "out.json";
    const ProgramResult result =
        run_program({"init", folder / "tile.cu", "--output", path, "--force"});
    CAPTURE(result.err);
    REQUIRE(result.code == 0);
    return load_specs(path).front().tunables.size();
  };
  CHECK(tunables("v * 2.f") == 1);
  CHECK(tunables("__shfl_xor_sync(~0u, v, 16)") == 0);
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
                    called = file("called.cu",
                                  "template <typename F> __global__ void k(float* x, F f) "
                                  "{ x[0] = f(x[0]); }\n"),
                    foreign = file("foreign.cu",
                                   "__global__ void k(float* x) { x[0] = lib::twice(x[0]); }\n"),
                    same = file("same.cu",
                                "__global__ void k(int* p) { *p = 1; }\n"
                                "__global__ void k(float* p) { *p = 1; }\n"),
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
      {{called}, "parameter f, a function object"},
      {{foreign}, "needs lib::twice, expected a text that declares it; --include FOLDER"},
      {{same, "k:3"}, "expected at most 2, which have the name"},
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

namespace {

/// The spec that `warpath init` writes for a kernel of tests/data/init, before anybody is asked.
KernelSpec drafted(const std::string& file, const std::string& kernel) {
  const std::string path = (source_root() / "tests/data/init" / (file + ".cu")).string();
  const model::Unit unit = model::parse(flat_source_file(path, {}).text);
  const model::Function& found = *unit.find_kernel(kernel);
  const SpecDraft draft = draft_spec(
      unit, found,
      {.file = file + ".cu", .source_file = "kernel.cu", .launch = find_launch(unit, found)});
  const TemporaryFolder folder;
  write_file(folder / "kernel.cu", draft.source);
  return parse_specs(draft.spec, folder / "spec.json", folder.path().string()).front();
}

std::string shape_of(const ArgSpec& arg) {
  std::string out;
  for (const Expression& extent : arg.tensor->shape) out += "[" + extent.text() + "]";
  return out;
}

/// What the text decided, on one line: launch, then tensors by role.
std::string described(const KernelSpec& spec) {
  const auto extents = [](const std::array<Expression, 3>& of) {
    std::string out = of[0].text();
    if (of[1].text() != "1" || of[2].text() != "1") out += " x " + of[1].text();
    return of[2].text() != "1" ? out + " x " + of[2].text() : out;
  };
  std::string out = "<" + extents(spec.io.launch.grid) + "; " + extents(spec.io.launch.block) + ">";
  const std::string bytes = spec.io.launch.dynamic_smem_bytes.text();
  if (bytes != "0") out += " " + bytes + " B";
  for (const auto& [role, word] :
       {std::pair(ArgRole::input, " in"), {ArgRole::output, " out"}, {ArgRole::inout, " inout"}}) {
    for (const ArgSpec& arg : spec.io.args) {
      if (arg.type != ArgType::tensor || arg.role != role) continue;
      out += word + (" " + arg.name) + shape_of(arg);
      if (!arg.tensor->indexes.empty()) out += "->" + arg.tensor->indexes;
    }
  }
  return out;
}

/// Kernel by file: "file:kernel".
const std::map<std::string, std::string> kDescribed{
    {"batched_bmm:bmm",
     "<ceil_div(n, BLOCK_X) x ceil_div(m, BLOCK_Y) x batch; BLOCK_X x BLOCK_Y> in a[batch][m][k] "
     "in b[batch][k][n] out c[batch][m][n]"},
    {"block_scan:segment_scan", "<ceil_div(n, kSegment); kSegment> in in[n] out out[n]"},
    {"boxes:areas", "<ceil_div(n, 64); 64> in boxes[4 * n] out area[n]"},
    {"boxes:halved", "<ceil_div(n, 256); 128> in x[n] inout y[n]"},
    {"class_labels:label_scores",
     "<min(ceil_div(points, BLOCK), 1024); BLOCK> in scores[(points - 1) / places * classes * "
     "places + classes * places] in "
     "labels[points] out picked[points]"},
    {"constant_filter:convolve", "<ceil_div(n, BLOCK); BLOCK> in in[n] out out[n]"},
    {"constant_grid:add_quads",
     "<blocks; 256> in a[4 * 256 * blocks] in b[4 * 256 * blocks] out c[4 * 256 * blocks]"},
    {"csr_spmv:spmv",
     "<ceil_div(rows, BLOCK); BLOCK> in row_ptr[rows + 1] in col[8 * rows]->x in val[8 * rows] in "
     "x[x_rows] out y[rows]"},
    {"dot_atomic:dot", "<min(ceil_div(n, BLOCK), 1024); BLOCK> in x[n] in y[n] inout result[1]"},
    {"dynamic_shared:reverse_block", "<(n + 255) / 256; 256> 1024 B in in[n] out out[n]"},
    {"enumeration:scaled",
     "<ceil_div(columns, BLOCK_X) x ceil_div(rows, BLOCK_Y); BLOCK_X x BLOCK_Y> in "
     "x[rows][columns] out y[rows][columns]"},
    {"gather_rows:embedding",
     "<tokens; BLOCK> in table[table_rows][width] in ids[tokens]->table out out[tokens][width]"},
    {"gemm_tiled:gemm",
     "<ceil_div(N, TILE) x ceil_div(M, TILE); TILE x TILE> in A[M][K] in B[K][N] out C[M][N]"},
    {"grid_stride:squares",
     "<min(ceil_div(count, BLOCK), 1024); BLOCK> in in[count] out out[count]"},
    {"half_types:add_half", "<ceil_div(n, BLOCK); BLOCK> in a[n] in b[n] out c[n]"},
    {"half_types:widen", "<ceil_div(n, BLOCK); BLOCK> in a[n] out c[n]"},
    {"heads:scores",
     "<ceil_div(length, BLOCK_X) x ceil_div(length, BLOCK_Y) x batch * heads; BLOCK_X x BLOCK_Y> "
     "in q[batch * heads][length][width] in k[batch * heads][length][width] out "
     "s[batch * heads][length][length]"},
    {"histogram:count_bytes", "<min(ceil_div(n, BLOCK), 1024); BLOCK> in data[n] inout bins[256]"},
    {"image_2d:to_grey",
     "<ceil_div(width, BLOCK_X) x ceil_div(height, BLOCK_Y); BLOCK_X x BLOCK_Y> in rgb[3 * height "
     "* width] out grey[height][width]"},
    {"in_place:relu_", "<ceil_div(n, BLOCK); BLOCK> inout data[n]"},
    {"layernorm:layernorm",
     "<ceil_div(N, BLOCK); BLOCK> in inp[N][C] in weight[C] in bias[C] out out[N][C] out mean[N] "
     "out rstd[N]"},
    {"loop_macro:distance",
     "<min(ceil_div(count, BLOCK), 1024); BLOCK> in a[count] in b[count] out d[count]"},
    {"moved_index:scale_columns",
     "<ceil_div(cols, BLOCK); BLOCK> in x[cols * rows] inout y[cols * rows]"},
    {"no_bound:negate", "<ceil_div(points, BLOCK); BLOCK> in x[points] out y[points]"},
    {"own_atomic:total", "<ceil_div(n, BLOCK); BLOCK> in x[n] inout sum[n]"},
    {"row_lengths:sums_of_rows",
     "<ceil_div(rows, BLOCK); BLOCK> in x[rows][width] in lengths[rows] out sums[rows]"},
    {"row_reduce:row_sums", "<rows; BLOCK_SIZE> in x[rows][cols] out sums[rows]"},
    {"saxpy_main:saxpy", "<ceil_div(n, BLOCK); BLOCK> in x[n] inout y[n]"},
    {"scale_guarded:scale", "<ceil_div(n, BLOCK); BLOCK> in x[n] out y[n]"},
    {"scatter_add:scatter_add",
     "<ceil_div(dim * rows, BLOCK); BLOCK> in src[dim * rows] in index[rows]->dst inout "
     "dst[dst_rows][dim]"},
    {"several_kernels:bias_gelu",
     "<ceil_div(cols * rows, BLOCK); BLOCK> in bias[cols] inout x[cols * rows]"},
    {"several_kernels:zero", "<ceil_div(n, BLOCK); BLOCK> out p[n]"},
    {"softmax_rows:softmax", "<ceil_div(N, BLOCK / 32); BLOCK> in in[N][C] out out[N][C]"},
    {"stencil:heat",
     "<ceil_div(nx, BLOCK_X) x ceil_div(ny, BLOCK_Y); BLOCK_X x BLOCK_Y> in u[ny][nx] inout "
     "v[ny][nx]"},
    {"struct_helper:variance", "<ceil_div(rows, BLOCK); BLOCK> in x[rows][cols] out var[rows]"},
    {"template_block:partial_max", "<ceil_div(n, 1024); 256> in x[n] out out[ceil_div(n, 1024)]"},
    {"template_type:doubled", "<ceil_div(n, BLOCK); BLOCK> in x[n] out y[n]"},
    {"transpose_tile:transpose",
     "<ceil_div(width, TILE_DIM) x ceil_div(height, TILE_DIM); TILE_DIM x 8> in in[height][width] "
     "out out[width][height]"},
    {"untyped_shared:row_sums", "<rows; BLOCK> 8 * BLOCK B in x[rows][cols] out sums[rows]"},
    {"waits_in_guard:tail_sums", "<(n + 31) / 32; 32 x 8> in x[rows][n] out y[n]"},
    {"valid_windows:convolve",
     "<ceil_div(-cols + width + 1, BLOCK_X) x ceil_div(height - rows + 1, BLOCK_Y) x filters * "
     "images; BLOCK_X x BLOCK_Y> in image[images][channels][height][width] in "
     "filter[filters][channels][rows][cols] out "
     "out[filters * images][height - rows + 1][-cols + width + 1]"},
    {"vector_loads:add4", "<ceil_div(n4, BLOCK); BLOCK> in a[n4][4] in b[n4][4] out c[n4][4]"},
};

std::pair<std::string, std::string> parts(const std::string& name) {
  return {name.substr(0, name.find(':')), name.substr(name.find(':') + 1)};
}

}  // namespace

TEST_SUITE_BEGIN("init_drafts");

TEST_CASE("launch, shapes and roles follow from the kernel's text") {
  for (const auto& [name, expected] : kDescribed) {
    CAPTURE(name);
    const KernelSpec spec = drafted(parts(name).first, parts(name).second);
    CHECK(described(spec) == expected);
    CHECK(contract_problems(spec) == std::vector<std::string>{});
  }
}

TEST_CASE("every drafted spec verifies on the host, unchanged") {
  for (const auto& [name, expected] : kDescribed) {
    CAPTURE(name);
    const KernelSpec spec = drafted(parts(name).first, parts(name).second);
    const test::HostRuns host(spec);
    const Outcome outcome = host.run(baseline_variant(spec));
    CAPTURE(outcome.log);
    CAPTURE(outcome.verdict.summary());
    CHECK(warpath::name(outcome.status) == "ok");
  }
}

TEST_CASE("all kernels of tests/data/init are described here") {
  for (const auto& entry : std::filesystem::directory_iterator(source_root() / "tests/data/init")) {
    CAPTURE(entry.path().string());
    const auto at = kDescribed.lower_bound(entry.path().stem().string() + ":");
    CHECK((at != kDescribed.end() && parts(at->first).first == entry.path().stem().string()));
  }
}

TEST_SUITE_END();
