#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/spec/spec_load.h"
#include "moves/tiles/contraction.h"
#include "register_moves.h"
#include "tests/support/host_check.h"
#include "tests/support/move_path.h"

using namespace warpath;

TEST_SUITE_BEGIN("tile_moves");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

std::unique_ptr<Move> make_move(const std::string& name) {
  const MoveRegistry& registry = registered_moves();
  return registry.create("move", name);
}

ArgSpec tensor(const std::string& name,
               ArgRole role,
               const std::vector<std::string>& shape,
               DType dtype = DType::f32) {
  ArgSpec arg;
  arg.name = name, arg.role = role;
  arg.tensor.emplace();
  for (const std::string& extent : shape)
    arg.tensor->shape.push_back(Expression::parse(extent, "test"));
  arg.tensor->dtype = dtype;
  if (role != ArgRole::output) arg.tensor->content = InitRule{};
  return arg;
}

ArgSpec integer(const std::string& name, std::int64_t value) {
  ArgSpec arg;
  arg.name = name, arg.type = ArgType::integer, arg.role = ArgRole::scalar;
  arg.value = value;
  return arg;
}

/// A spec whose reference is its own kernel.
KernelSpec spec_of(const std::string& source,
                   std::vector<ArgSpec> args,
                   const std::vector<std::string>& grid,
                   const std::vector<std::int64_t>& block) {
  KernelSpec spec;
  spec.name = "k", spec.origin = "test.json";
  spec.source = source, spec.kernel_name = "k";
  spec.io.args = std::move(args);
  for (std::size_t i = 0; i < grid.size(); ++i)
    spec.io.launch.grid[i] = Expression::parse(grid[i], "test");
  for (std::size_t i = 0; i < block.size(); ++i) spec.io.launch.block[i] = Expression(block[i]);
  spec.reference = ReferenceKernel{source, "", "k", spec.io.launch};
  spec.tolerance[""] = Tolerance{1e-4, 1e-4, 1e-4, false};
  Workload workload;
  workload.name = "host";
  spec.workloads = {workload};
  return spec;
}

/// The spec's workloads for the host alone.
KernelSpec on_host(KernelSpec spec) {
  std::erase_if(spec.workloads, [](const Workload& w) { return w.target == WorkloadTarget::gpu; });
  return spec;
}

/// Applies every listed instance of the move, at most `most`, and runs what comes out; the number
/// that passed.
int check_runs(const std::string& move_name, const KernelSpec& given, std::size_t most = 8) {
  const KernelSpec spec = on_host(given);
  const auto move = make_move(move_name);
  const Variant variant = baseline_variant(spec);
  const DeviceFacts device;
  const MoveContext context{spec, variant, device};
  const test::HostCheck host(spec);
  int passed = 0;
  for (const MoveInstance& instance : move->enumerate(context)) {
    if (most-- == 0) break;
    std::string why;
    const auto after = move->apply(context, instance, why);
    CAPTURE(instance.text());
    CAPTURE(why);
    REQUIRE(after.has_value());
    host.passes(*after);
    ++passed;
  }
  return passed;
}

std::string refusal(const std::string& move_name,
                    const KernelSpec& spec,
                    const std::string& site = "",
                    MoveParameters parameters = {}) {
  const auto move = make_move(move_name);
  const Variant variant = baseline_variant(spec);
  const DeviceFacts device;
  std::string why;
  CHECK_FALSE(
      move->apply(MoveContext{spec, variant, device}, {move_name, site, std::move(parameters)}, why)
          .has_value());
  return why;
}

/// out[M, N] = sum over k of A times B with the given index texts and layouts.
KernelSpec gemm(const std::string& body,
                const std::vector<std::string>& a,
                const std::vector<std::string>& b) {
  return spec_of(
      "extern \"C\" __global__ void k(int M, int N, int K, const float* A, const float* B, float* "
      "C) {\n" +
          body + "}\n",
      {integer("M", 37), integer("N", 45), integer("K", 29), tensor("A", ArgRole::input, a),
       tensor("B", ArgRole::input, b), tensor("C", ArgRole::output, {"M", "N"})},
      {"ceil_div(N, 16)", "ceil_div(M, 8)"}, {16, 8});
}

const std::string kIndices =
    "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n  int row = blockIdx.y * blockDim.y + "
    "threadIdx.y;\n";

std::string plain_gemm(const std::string& a, const std::string& b) {
  return kIndices +
         "  if (row < M && col < N) {\n    float sum = 0.0f;\n    for (int k = 0; k < K; k++) {\n  "
         "    sum += A[" +
         a + "] * B[" + b + "];\n    }\n    C[row * N + col] = sum;\n  }\n";
}

std::optional<Contraction> contraction_of(const KernelSpec& spec, std::string& why) {
  const Variant variant = baseline_variant(spec);
  const DeviceFacts device;
  return find_contraction(MoveContext{spec, variant, device}, why);
}

}  // namespace

TEST_CASE("a contraction's parts are read from any layout") {
  std::string why;
  const auto c =
      contraction_of(gemm(plain_gemm("k * M + row", "col * K + k"), {"K", "M"}, {"N", "K"}), why);
  CAPTURE(why);
  REQUIRE(c.has_value());
  CHECK(c->m.name == "row");
  CHECK(c->n.name == "col");
  CHECK(c->m.extent == "M");
  CHECK(c->m.launch_extent == "M");
  CHECK(c->k == "k");
  CHECK(c->k_extent == "K");
  CHECK(c->a.pointer == "A");
  CHECK(c->a.outer_contiguous);
  CHECK(c->a.k_stride == "M");
  CHECK(c->b.k_contiguous);
  CHECK(c->b.outer_stride == "K");
  CHECK(c->b.vector == 1);
  CHECK(c->accumulator == "sum");
  CHECK(c->epilogue == "C[row * N + col] = sum;");
  CHECK(c->output == "C");
  CHECK(c->output_n_contiguous);
}

TEST_CASE("tiles of any layout pair agree with the kernel they come from") {
  int runs = 0;
  for (const bool a_by_k : {false, true}) {
    for (const bool b_by_k : {false, true}) {
      CAPTURE(a_by_k);
      CAPTURE(b_by_k);
      const KernelSpec spec =
          gemm(plain_gemm(a_by_k ? "k * M + row" : "row * K + k",
                          b_by_k ? "k * N + col" : "col * K + k"),
               a_by_k ? std::vector<std::string>{"K", "M"} : std::vector<std::string>{"M", "K"},
               b_by_k ? std::vector<std::string>{"K", "N"} : std::vector<std::string>{"N", "K"});
      runs += check_runs("tile_and_block", spec, 2);
    }
  }
  CHECK(runs == 8);
}

TEST_CASE("sums of products are found in other spellings") {
  const std::vector<std::string> bodies{
      // early return, fma, row pointers, other loop form
      kIndices +
          "  if (row >= M || col >= N) return;\n  const float* a = A + row * K;\n  float sum = "
          "0;\n  for (int k = 0; k <= K - 1; ++k) sum = fmaf(a[k], B[k * N + col], sum);\n"
          "  float* out = C + row * N;\n  out[col] = sum;\n",
      // locals in the loop, an epilogue of several statements
      kIndices +
          "  if (row >= M) return;\n  if (col >= N) return;\n  float sum = 0.f;\n  for (int k = 0; "
          "k < K; k += 1) {\n    float x = A[row * K + k];\n    float y = B[k * N + col];\n"
          "    sum = sum + x * y;\n  }\n  float scaled = 0.5f * sum;\n  C[row * N + col] = scaled "
          "> 0 ? scaled : 0.0f;\n",
      // a sum that starts from a value of its output; from one of two; and is changed before
      kIndices +
          "  if (row < M && col < N) {\n    float sum = B[col];\n    for (int k = 0; k < K; k++) "
          "sum += A[row * K + k] * B[k * N + col];\n    C[row * N + col] = sum;\n  }\n",
      kIndices +
          "  if (row < M && col < N) {\n    float sum = K > 7 ? A[row * K] : 0.0f;\n    for (int k "
          "= 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];\n    float twice = 2 * sum;\n"
          "    C[row * N + col] = twice;\n  }\n",
      kIndices +
          "  if (row < M && col < N) {\n    float sum = 1.0f;\n    if (K > 7) sum = B[col];\n    "
          "sum *= 0.5f;\n    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];\n"
          "    C[row * N + col] = sum;\n  }\n",
  };
  for (const std::string& body : bodies) {
    CAPTURE(body);
    CHECK(check_runs("tile_and_block", gemm(body, {"M", "K"}, {"K", "N"}), 1) == 1);
  }
  KernelSpec flat = gemm(
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int row = i / N, col = i % N;\n  if (i "
      "< M * N) {\n    float sum = 0.0f;\n"
      "    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[k * N + col];\n    C[i] = sum;\n  "
      "}\n",
      {"M", "K"}, {"K", "N"});
  flat.io.launch.grid = {Expression::parse("ceil_div(M * N, 128)", "test"), Expression(1),
                         Expression(1)};
  flat.io.launch.block = {Expression(128), Expression(1), Expression(1)};
  flat.reference = ReferenceKernel{flat.source, "", "k", flat.io.launch};
  CHECK(check_runs("tile_and_block", flat, 1) == 1);
}

TEST_CASE("sizes that divide leave no test and load in wide accesses") {
  const std::string sizes = "  constexpr int M = 128, N = 256, K = 64;\n";
  KernelSpec spec = gemm(sizes + plain_gemm("k * M + row", "k * N + col"), {"K", "M"}, {"K", "N"});
  spec.source.replace(spec.source.find("int M, int N, int K"), 19, "int, int, int");
  spec.io.args[0].value = std::int64_t{128}, spec.io.args[1].value = std::int64_t{256},
  spec.io.args[2].value = std::int64_t{64};
  spec.reference = ReferenceKernel{spec.source, "", "k", spec.io.launch};
  const auto move = make_move("tile_and_block");
  const Variant variant = baseline_variant(spec);
  const DeviceFacts device;
  const MoveContext context{spec, variant, device};
  const auto listed = move->enumerate(context);
  REQUIRE(listed.size() >= 3);
  std::string why;
  const std::string source = move->apply(context, listed[0], why)->source;
  CAPTURE(source);
  CHECK(source.find("a_next[i] = *reinterpret_cast<const float4*>(&A[k * M + row]);") !=
        std::string::npos);
  CHECK(source.find("row < M") == std::string::npos);
  CHECK(source.find("*reinterpret_cast<float4*>(&C[row * N + col_first])") != std::string::npos);
  CHECK(check_runs("tile_and_block", spec, 3) == 3);
}

TEST_CASE("the kernels of the collection become tiles that agree") {
  for (const std::string name :
       {"sgemm_tn_batched", "gemm_bf16_nt", "int8_scaled_mm", "grouped_gemm_bf16"}) {
    CAPTURE(name);
    CHECK(check_runs("tile_and_block", load_specs(kRoot + "/specs/" + name + ".json").front(), 1) ==
          1);
  }
}

TEST_CASE("what is no sum of products is refused with the reason") {
  const auto shape =
      MoveParameters{{"bm", 64}, {"bn", 64}, {"bk", 16}, {"tm", 4}, {"tn", 4}, {"stages", 1}};
  const auto why = [&](const std::string& body) {
    return refusal("tile_and_block", gemm(body, {"M", "K"}, {"K", "N"}), "", shape);
  };
  CHECK(why(kIndices + "  if (row < M && col < N) C[row * N + col] = A[row * K];\n")
            .find("no loop") != std::string::npos);
  CHECK(why(kIndices + "  if (row < M && col < N) {\n    float sum = 0;\n    for (int k = 0; k < "
                       "K; k++) sum += A[row * K + k];\n    C[row * N + col] = sum;\n  }\n")
            .find("two factors") != std::string::npos);
  CHECK(why(kIndices +
            "  if (row < M && col < N && col <= row) {\n    float sum = 0;\n    for (int k = 0; k "
            "< K; k++) sum += A[row * K + k] * B[k * N + col];\n    C[row * N + col] = sum;\n  }\n")
            .find("condition") != std::string::npos);
  CHECK(why(kIndices +
            "  if (row < M && col < N) {\n    float sum = 0;\n    for (int k = 0; k < K; k++) { "
            "sum += A[row * K + k] * B[k * N + col]; C[row * N + col] = sum; }\n  }\n") != "");
}

TEST_CASE("outputs of a thread without shared memory agree") {
  CHECK(check_runs("register_block",
                   gemm(plain_gemm("row * K + k", "col * K + k"), {"M", "K"}, {"N", "K"}), 4) == 4);
  const KernelSpec points = spec_of(
      "extern \"C\" __global__ void k(float* y, const float* x, int n) {\n  int i = blockIdx.x * "
      "blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  y[i] = x[i] * 2;\n}\n",
      {tensor("y", ArgRole::output, {"n"}), tensor("x", ArgRole::input, {"n"}), integer("n", 1003)},
      {"ceil_div(n, 64)"}, {64});
  CHECK(check_runs("register_block", points, 3) == 3);
}

TEST_CASE("shared data is staged: sums, exchanges, streams") {
  CHECK(check_runs("smem_tile_stage",
                   gemm(plain_gemm("row * K + k", "k * N + col"), {"M", "K"}, {"K", "N"}), 4) >= 3);
  const KernelSpec transpose = spec_of(
      "extern \"C\" __global__ void k(float* out, const float* in, int W, int H) {\n  int x = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  if (x < W && y < H) out[x * H + y] = 2.0f * in[y * W + x];\n}\n",
      {tensor("out", ArgRole::output, {"W", "H"}), tensor("in", ArgRole::input, {"H", "W"}),
       integer("W", 67), integer("H", 43)},
      {"ceil_div(W, 16)", "ceil_div(H, 16)"}, {16, 16});
  CHECK(check_runs("smem_tile_stage", transpose, 2) == 2);
  // A thread's rows, by names; the guard has the loop's variable.
  KernelSpec rows = transpose;
  rows.source =
      "extern \"C\" __global__ void k(float* out, const float* in, int W, int H) {\n  int x = "
      "blockIdx.x * 16 + threadIdx.x;\n  int y = blockIdx.y * 16 + threadIdx.y;\n  int from = y * "
      "W "
      "+ x, to = x * H + y;\n#pragma unroll\n  for (int r = 0; r < 16; r += 4)\n    if (x < W && y "
      "+ r < H) out[to + r] = in[from + r * W];\n}\n";
  rows.io.launch.block[1] = Expression(4);
  rows.reference = ReferenceKernel{rows.source, "", "k", rows.io.launch};
  CHECK(check_runs("smem_tile_stage", rows, 1) == 1);
  const KernelSpec pairs = spec_of(
      "extern \"C\" __global__ void k(float* f, const float* x, const float* w, int n) {\n  int i "
      "= blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float xi = x[i];\n  "
      "float sum = 0.0f;\n"
      "  for (int j = 0; j < n; j++) {\n    float d = x[j] - xi;\n    sum += w[j] / (d * d + "
      "1.0f);\n  }\n  f[i] = sum;\n}\n",
      {tensor("f", ArgRole::output, {"n"}), tensor("x", ArgRole::input, {"n"}),
       tensor("w", ArgRole::input, {"n"}), integer("n", 301)},
      {"ceil_div(n, 64)"}, {64});
  CHECK(check_runs("smem_tile_stage", pairs, 2) == 2);
}

TEST_CASE("an exchange that a tile would not cover as its kernel does is left alone") {
  const auto why = [&](const std::string& body, const std::vector<std::string>& grid) {
    const KernelSpec spec = spec_of(
        "extern \"C\" __global__ void k(float* out, const float* in) {\n" + body + "}\n",
        {tensor("out", ArgRole::output, {"48", "48"}), tensor("in", ArgRole::input, {"48", "48"})},
        grid, {16, 4});
    return refusal("smem_tile_stage", spec, "exchange", {{"tile", 32}, {"rows", 8}});
  };
  const std::string indices =
      "  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;\n";
  CHECK(why(indices + "  for (int r = 0; r < 16; r += 4) out[x * 48 + y + r] = in[(y + r) * 48 + "
                      "x];\n",
            {"3", "3"})
            .find("reach beyond the end") != std::string::npos);
  CHECK(why(indices + "  for (int r = 0; r < 8; r += 4) out[x * 48 + y + r] = in[(y + r) * 48 + "
                      "x];\n",
            {"3", "3"})
            .find("does not run over rows") != std::string::npos);
  CHECK(why(indices + "  for (int r = 0; r < 16; r += 4) out[x * 48 + y + r] = in[y * 48 + x];\n",
            {"3", "3"})
            .find("does not run over rows") != std::string::npos);
}

TEST_CASE("a stencil marches along its slowest axis") {
  CHECK(check_runs("stencil_march", load_specs(kRoot + "/specs/stencil3d_r4.json").front(), 2) ==
        2);
  const KernelSpec star = spec_of(
      "extern \"C\" __global__ void k(float* o, const float* in, int w, int h) {\n  int x = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  if (x < 1 || x >= w - 1 || y < 1 || y >= h - 1) return;\n  o[y * w + x] = in[y * w + x] + "
      "0.25f * (in[(y - 1) * w + x] + in[(y + 1) * w + x] + in[y * w + x - 1] + in[y * w + x + "
      "1]);\n}\n",
      {tensor("o", ArgRole::inout, {"h", "w"}), tensor("in", ArgRole::input, {"h", "w"}),
       integer("w", 53), integer("h", 39)},
      {"ceil_div(w, 16)", "ceil_div(h, 8)"}, {16, 8});
  check_runs("stencil_march", star, 1);
}

TEST_CASE("operands of a type of two words are zero beyond the edge") {
  const KernelSpec bytes = load_specs(kRoot + "/specs/int8_scaled_mm.json").front();
  test::MovePath path(bytes);
  path.step("register_block@sum(tm=8,tn=8)");
  CHECK(path.has("static_cast<signed char>(0)"));
  path.runs();
}

TEST_CASE("a stencil whose threads make several points already does not march again") {
  const KernelSpec cube = load_specs(kRoot + "/specs/stencil3d_r4.json").front();
  for (const std::string specialised : {"nx", "ny", ""}) {
    test::MovePath path(cube);
    if (!specialised.empty()) path.step("specialise_shape@argument:" + specialised);
    path.step("stencil_march(ahead=0,planes=64,width=1)");
    for (const std::string width : {"1", "4"})
      CHECK(path.tried("stencil_march(ahead=0,planes=16,width=" + width + ")") ==
            "a thread makes its points in a loop");
    CHECK(path.listed("stencil_march").empty());
  }
  const auto star = [](const std::string& before, const std::string& point) {
    return spec_of(
        "extern \"C\" __global__ void k(float* o, const float* in, int w, int h) {\n" + before +
            "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + "
            "threadIdx.y;\n  if (x >= w || y >= h) return;\n" +
            point + "  if (y > 0 && y < h - 1) sum += in[p - w] + in[p + w];\n  o[p] = sum;\n}\n",
        {tensor("o", ArgRole::output, {"h", "w"}), tensor("in", ArgRole::input, {"h", "w"}),
         integer("w", 53), integer("h", 39)},
        {"ceil_div(w, 16)", "ceil_div(h, 8)"}, {16, 8});
  };
  const MoveParameters shape = {{"planes", 16}, {"width", 1}, {"ahead", 0}};
  CHECK(check_runs("stencil_march", star("", "  int p = y * w + x;\n  float sum = in[p];\n"), 1) ==
        1);
  CHECK(refusal("stencil_march",
                star("  float sum = 0.0f;\n", "  int p = y * w + x;\n  sum += in[p];\n"), "",
                shape) == "sum would go from one point to the next");
  check_runs("stencil_march", star("", "  int p = y * w;\n  p += x;\n  float sum = in[p];\n"));
}

TEST_CASE("what is kept on the chip takes the place of hinted loads") {
  test::MovePath stencil(load_specs(kRoot + "/specs/stencil3d_r4.json").front());
  stencil.step("cache_policy_cg@argument:in(policy=3)")
      .step("stencil_march(ahead=1,planes=64,width=1)");
  CHECK(stencil.has("float sum = c[0] * in_column[4];"));
  stencil.runs();
  test::MovePath wide(load_specs(kRoot + "/specs/stencil3d_r4.json").front());
  wide.step("cache_policy_cg@argument:o(policy=1)");
  CHECK(wide.tried("stencil_march(ahead=0,planes=64,width=4)") != "");
  wide.step("stencil_march(ahead=0,planes=64,width=1)").runs();
  const KernelSpec transpose = spec_of(
      "extern \"C\" __global__ void k(float* out, const float* in, int W, int H) {\n  int x = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  if (x < W && y < H) out[x * H + y] = 2.0f * __ldg(&in[y * W + x]);\n}\n",
      {tensor("out", ArgRole::output, {"W", "H"}), tensor("in", ArgRole::input, {"H", "W"}),
       integer("W", 67), integer("H", 43)},
      {"ceil_div(W, 16)", "ceil_div(H, 16)"}, {16, 16});
  CHECK(check_runs("smem_tile_stage", transpose, 1) == 1);
  const KernelSpec pairs = spec_of(
      "extern \"C\" __global__ void k(float* f, const float* x, int n) {\n  int i = blockIdx.x * "
      "blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float xi = x[i];\n  float sum = 0.0f;\n"
      "  for (int j = 0; j < n; j++) {\n    float d = __ldcg(&x[j]) - xi;\n    sum += 1.0f / (d * "
      "d + 1.0f);\n  }\n  f[i] = sum;\n}\n",
      {tensor("f", ArgRole::output, {"n"}), tensor("x", ArgRole::input, {"n"}), integer("n", 301)},
      {"ceil_div(n, 64)"}, {64});
  CHECK(check_runs("smem_tile_stage", pairs, 1) == 1);
}

TEST_CASE("small operands are copied once") {
  CHECK(check_runs("constant_operand", load_specs(kRoot + "/specs/stencil3d_r4.json").front()) ==
        2);
}

TEST_CASE("axes are exchanged where that makes memory contiguous, blocks are walked in groups") {
  for (const std::string name : {"sgemm_tn_batched", "int8_scaled_mm"}) {
    CAPTURE(name);
    const KernelSpec spec = load_specs(kRoot + "/specs/" + name + ".json").front();
    CHECK(check_runs("grouped_gemm_colmajor", spec, 2) == 2);
  }
  CHECK(check_runs("coalesce_remap", load_specs(kRoot + "/specs/int8_scaled_mm.json").front()) ==
        1);
  CHECK(refusal("coalesce_remap", load_specs(kRoot + "/specs/gemm_bf16_nt.json").front(), "axes:xy")
            .find("no more contiguous") != std::string::npos);
}

TEST_CASE("rows in shared memory are lengthened") {
  const KernelSpec tile = spec_of(
      "extern \"C\" __global__ void k(float* out, const float* in) {\n  __shared__ float "
      "t[32][32];\n  t[threadIdx.y][threadIdx.x] = in[blockIdx.x * 1024 + threadIdx.y * 32 + "
      "threadIdx.x];\n  __syncthreads();\n"
      "  out[blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x] = "
      "t[threadIdx.x][threadIdx.y];\n}\n",
      {tensor("out", ArgRole::output, {"4096"}), tensor("in", ArgRole::input, {"4096"})}, {"4"},
      {32, 32});
  CHECK(check_runs("smem_pad_swizzle", tile) == 2);
  // Each time they begin in more banks than before, or nothing is gained.
  test::MovePath path(tile);
  path.step("smem_pad_swizzle@shared:t(pad=4)").runs();
  CHECK(path.has("t[32][32 + 4];"));
  CHECK(path.tried("smem_pad_swizzle@shared:t(pad=4)").find("no more banks") != std::string::npos);
  path.step("smem_pad_swizzle@shared:t(pad=1)").runs();
  CHECK(path.has("t[32][32 + 4 + 1];"));
  CHECK(path.tried("smem_pad_swizzle@shared:t(pad=1)").find("no more banks") != std::string::npos);
}

TEST_SUITE_END();
