#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;
using test::TestArgument;

TEST_SUITE_BEGIN("thread_moves");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

KernelSpec spec_file(const std::string& name) {
  return load_specs(kRoot + "/specs/" + name + ".json").front();
}

KernelSpec axpy(std::int64_t n,
                const std::string& guard =
                    "if (i < n) {\n    y[i] = a[0] * x[i] + y[i];  // one element\n  }") {
  return test::kernel_under_test(
      "extern \"C\" __global__ void axpy(float* y, const float* x, const float* a, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
          guard + "\n}\n",
      "axpy",
      {{"y", "inout", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"a", "input", "float32", "1"},
       {"n", "scalar", "", "", n}},
      "ceil_div(n, 64)", "64");
}

/// sums[i] = the sum of eight elements from x[i] on, added up in a variable that is declared before
/// the thread's index.
KernelSpec sums_of_eight() {
  return test::kernel_under_test(
      "extern \"C\" __global__ void sums(float* y, const float* x, int n) {\n  float sum = 0.0f;\n "
      " int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= n) return;\n  for (int k = 0; k < 8; k++) {\n    sum += x[i + k];\n  }\n  y[i] = "
      "sum;\n}\n",
      "sums",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n + 8"},
       {"n", "scalar", "", "", 1003}},
      "ceil_div(n, 64)", "64");
}

/// Sum of each row by a block: strided loop, shared tree, or `combine`, which writes 128 elements a
/// row.
KernelSpec row_sums(std::int64_t columns, const std::string& combine = "") {
  const std::string tree =
      combine.empty() ? "  s[threadIdx.x] = sum;\n  __syncthreads();\n"
                        "  for (int k = 64; k > 0; k /= 2) {\n    if (threadIdx.x < k) "
                        "s[threadIdx.x] += s[threadIdx.x + k];\n    __syncthreads();\n  }\n"
                        "  if (threadIdx.x == 0) out[row] = s[0];\n"
                      : combine;
  return test::kernel_under_test(
      "extern \"C\" __global__ void row_sums(float* out, const float* x, int N, int C) {\n"
      "  __shared__ float s[128];\n  int row = blockIdx.x;\n  float sum = 0.0f;\n"
      "  for (int j = threadIdx.x; j < C; j += blockDim.x) {\n    sum += x[row * C + j];\n  }\n" +
          tree + "}\n",
      "row_sums",
      {{"out", "output", "float32", combine.empty() ? "N" : "N * 128"},
       {"x", "input", "float32", "N * C"},
       {"N", "scalar", "", "", 5},
       {"C", "scalar", "", "", columns}},
      "N", "128", 1e-4);
}

}  // namespace

TEST_CASE("sizes become constants at the head of the kernel and leave their parameters") {
  MovePath path(spec_file("softmax_scaled"));
  path.step("specialise_shape@shape");
  CHECK(path.has(
      "float s, int /*N*/, int /*C*/) {\n  constexpr int N = 501;\n  constexpr int C = 257;\n"));
  CHECK(path.tried("specialise_shape@shape") != "");
  path.runs();
  MovePath one(spec_file("softmax_scaled"));
  one.on_gpu().step("specialise_shape@argument:C");
  CHECK(one.has("int N, int /*C*/) {\n  constexpr int C = 2048;\n"));
}

TEST_CASE("an element a thread becomes a pack, with a loop for the rest unless the size divides") {
  MovePath path(axpy(1003));
  path.step("vectorize_global_loads@thread(width=4)");
  CHECK(path.has("constexpr int PACK = 4;"));
  CHECK(path.has("int i = (blockIdx.x * blockDim.x + threadIdx.x) * PACK;"));
  CHECK(path.has("*reinterpret_cast<float4*>(x_pack) = *reinterpret_cast<const float4*>(&x[i]);"));
  CHECK(path.has("y_pack[v] = a[0] * x_pack[v] + y_pack[v];  // one element"));
  CHECK(path.has("} else {"));
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(ceil_div(n, 64), 4)");
  path.runs();

  MovePath even(axpy(1024, "if (i >= n) return;\n  y[i] = a[0] * x[i] + y[i];"));
  even.step("specialise_shape@shape").step("vectorize_global_loads@thread(width=4)");
  CHECK_FALSE(even.has("else"));
  CHECK(even.has("if (i >= n) return;"));
  even.runs();
}

TEST_CASE("locals of the thread's index go into the pack's loop") {
  const std::string source =
      "extern \"C\" __global__ void scale(float* y, const float* x, const float* w, int n, int C) "
      "{\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int c = i % C;\n  if (i >= n) return;\n "
      " float weight = w[c];\n  y[i] = x[i] * weight;\n}\n";
  for (const std::int64_t n : {1000, 1003}) {
    MovePath path(test::kernel_under_test(source, "scale",
                                          {{"y", "output", "float32", "n"},
                                           {"x", "input", "float32", "n"},
                                           {"w", "input", "float32", "C"},
                                           {"n", "scalar", "", "", n},
                                           {"C", "scalar", "", "", 40}},
                                          "ceil_div(n, 128)", "128"));
    path.step("specialise_shape@shape").step("vectorize_global_loads@thread(width=4)");
    path.runs();
  }
}

TEST_CASE("what is not contiguous, not aligned or could be overwritten is not packed") {
  const auto body = [](const std::string& statement) {
    return axpy(1000, "if (i < n) {\n    " + statement + "\n  }");
  };
  for (const std::string statement : {"y[i] = x[n - 1 - i];", "if (x[i] > 0) y[i] = 1;"}) {
    CAPTURE(statement);
    MovePath path(body(statement));
    const std::string why = path.tried("vectorize_global_loads@thread(width=4)");
    if (why.empty()) path.runs();
  }
  CHECK(MovePath(body("y[i] = y[n - 1 - i];")).tried("vectorize_global_loads@thread(width=4)") !=
        "");
  CHECK(MovePath(body("atomicAdd(&y[0], x[n - 1 - i]);"))
            .tried("vectorize_global_loads@thread(width=4)") != "");
  CHECK(MovePath(body("y[i] = threadIdx.x + x[i];"))
            .tried("vectorize_global_loads@thread(width=4)") != "");
  CHECK(MovePath(body("y[i] = x[i];")).tried("vectorize_global_loads@thread(width=3)") != "");
  CHECK(MovePath(body("y[i] = x[i];")).tried("vectorize_global_loads@loop:0(width=4)") != "");
}

TEST_CASE("an element in a pack is reached there from loops and branches, too") {
  for (const std::string width : {"2", "8"}) {
    MovePath sparse(spec_file("spmv_csr"));
    sparse.step("vectorize_global_loads@thread(width=" + width + ")");
    CHECK(sparse.has("y_pack[v2] = 0.0f;") == sparse.has("y_pack[v2] += v[j] * x[ci[j]];"));
    CHECK_FALSE(sparse.has("y[row + v2]"));
    sparse.runs();
  }
  // What the thread does with y[i], and whether y can be a pack.
  const std::vector<std::pair<std::string, bool>> bodies = {
      {"y[i] = 0.0f;\n    for (int k = 0; k < 3; k++) {\n      y[i] += x[i];\n    }", true},
      {"y[i] = x[i];\n    if (x[i] > 0.0f) y[i] = a[0];", true},
      {"if (x[i] > 0.0f) y[i] = a[0];\n    y[i] += x[i];", true},
      {"float t = 0.0f;\n    for (int k = 0; k < 2; k++) t += y[i];\n    y[i] = t + x[i];", true},
      {"y[i] = x[i] > 0.0f ? y[i] : x[i];", true},
      {"float t = y[i] + x[i];\n    if (t > 0.0f) y[i] = t;", false},
      {"y[i] = x[i];\n    atomicAdd(&y[i], 1.0f);", false},
      {"y[i] = x[i];\n    y[i] = __ldcg(&y[i]) + a[0];", true},
      {"__stcs(&y[i], x[i]);\n    y[i] += a[0];", false},
  };
  for (const auto& [statements, packed] : bodies) {
    CAPTURE(statements);
    MovePath path(axpy(1003, "if (i < n) {\n    " + statements + "\n  }"));
    path.step("vectorize_global_loads@thread(width=4)");
    CHECK(path.has("y_pack") == packed);
    path.runs();
  }
  const std::string rows =
      "extern \"C\" __global__ void rows(float* y, const float* x, int N, int C) {\n  int i = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= N) return;\n"
      "  for (int j = 0; j < C; j++) {\n    y[i * C + j] = 1.0f;\n    for (int k = 0; k < 3; k++) "
      "{\n      y[i * C + j] += x[i * C + j] * k;\n    }\n  }\n}\n";
  MovePath loop(test::kernel_under_test(rows, "rows",
                                        {{"y", "output", "float32", "N * C"},
                                         {"x", "input", "float32", "N * C"},
                                         {"N", "scalar", "", "", 37},
                                         {"C", "scalar", "", "", 24}},
                                        "ceil_div(N, 32)", "32"));
  loop.step("specialise_shape@argument:C").step("vectorize_global_loads@loop:0(width=4)").runs();
}

TEST_CASE("a variable from before the thread's index does not reach the next element") {
  for (const std::string move :
       {"vectorize_global_loads@thread(width=4)", "persistent_grid@thread(blocks_per_sm=1)",
        "register_block@points(points=2)"}) {
    CAPTURE(move);
    const std::string why = MovePath(sums_of_eight()).tried(move);
    CHECK(why.find("sum would go from one") == 0);
  }
}

TEST_CASE("loads that follow a store of their own iteration stay behind it") {
  const std::string source =
      "extern \"C\" __global__ void twice(float* y, float* z, const float* x, int N, int C) {\n  "
      "int i = blockIdx.x;\n"
      "  for (int j = threadIdx.x; j < C; j += blockDim.x) {\n    y[i * C + j] = 2.0f * x[i * C + "
      "j];\n    z[i * C + j] = y[i * C + j] + 1.0f;\n  }\n}\n";
  MovePath path(test::kernel_under_test(source, "twice",
                                        {{"y", "output", "float32", "N * C"},
                                         {"z", "output", "float32", "N * C"},
                                         {"x", "input", "float32", "N * C"},
                                         {"N", "scalar", "", "", 5},
                                         {"C", "scalar", "", "", 300}},
                                        "N", "32"));
  path.step("unroll_ilp@loop:0(factor=4,tail=0)");
  CHECK(path.has("x_next"));
  CHECK_FALSE(path.has("y_next"));
  path.runs();
}

TEST_CASE("a cache hint takes the place of another") {
  MovePath path(axpy(1003));
  path.step("cache_policy_cg@argument:x(policy=2)").step("cache_policy_cg@argument:y(policy=1)");
  CHECK(path.has("__stcs(&y[i], a[0] * __ldcg(&x[i]) + __ldcs(&y[i]));"));
  CHECK(path.tried("cache_policy_cg@argument:x(policy=2)") == "the accesses have that hint");
  path.step("cache_policy_cg@argument:x(policy=3)").step("cache_policy_cg@argument:y(policy=2)");
  CHECK(path.has("__stcg(&y[i], a[0] * __ldg(&x[i]) + __ldcg(&y[i]));"));
  path.runs();
  path.step("vectorize_global_loads@thread(width=4)");
  CHECK(path.has("__stcg(&y[i + v], a[0] * x_pack[v] + __ldcg(&y[i + v]));"));
  path.runs();

  MovePath wide(axpy(1003));
  wide.step("vectorize_global_loads@thread(width=4)")
      .step("cache_policy_cg@argument:x(policy=1)")
      .step("cache_policy_cg@argument:x(policy=3)");
  CHECK(wide.has("__ldg(reinterpret_cast<const float4*>(&x[i]))"));
  CHECK_FALSE(wide.has("__ldcs"));
  wide.runs();

  MovePath pointer(axpy(1003, "if (i < n) y[i] = __ldcs(x + i) * a[0];"));
  pointer.step("cache_policy_cg@argument:x(policy=3)");
  CHECK(pointer.has("__ldg(x + i)"));
  pointer.runs();
  CHECK(MovePath(axpy(1003, "if (i < n) y[i] = __ldcv(&x[i]);"))
            .tried("cache_policy_cg@argument:x(policy=1)") == "__ldcv is more than a hint");
}

TEST_CASE("locals stand for hinted loads, never below their address") {
  MovePath rows(spec_file("rowscan"));
  for (const std::string& hint : rows.listed("cache_policy_cg")) {
    for (const std::string& next : MovePath(rows).step(hint).listed("unroll_ilp"))
      MovePath(rows).step(hint).step(next).runs();
  }
  MovePath sparse(spec_file("spmv_csr"));
  sparse.step("cache_policy_cg@argument:x(policy=3)")
      .step("cache_policy_cg@argument:v(policy=1)")
      .step("promote_scalars@loop:0")
      .runs();
  MovePath accumulated(axpy(1003,
                            "if (i < n) {\n    for (int k = 0; k < 4; k++) {\n      y[i] = "
                            "__ldcg(&y[i]) + x[i];\n    }\n  }"));
  accumulated.step("promote_scalars@loop:0");
  CHECK(accumulated.has("y_value = y_value + x[i];"));
  accumulated.runs();
  MovePath constant(axpy(1003, "if (i < n) y[i] = __ldg(&a[0]) * x[i];"));
  constant.step("constant_operand@argument:a(form=0)");
  CHECK(constant.has("y[i] = a_value[0] * x[i];"));
  constant.runs();
}

TEST_CASE("a loop strided over the block takes packs and unrolls, and keeps its sum") {
  for (const std::int64_t columns : {512, 1028, 4}) {
    MovePath path(row_sums(columns));
    path.step("specialise_shape@argument:C").step("vectorize_global_loads@loop:0(width=4)");
    CHECK(path.has("for (int j = threadIdx.x * PACK; j < C; j += blockDim.x * PACK) {"));
    path.runs();
  }
  MovePath deeper(row_sums(4096));
  deeper.step("specialise_shape@argument:C")
      .step("vectorize_global_loads@loop:0(width=2)")
      .step("unroll_ilp@loop:0(factor=4,tail=0)");
  CHECK(deeper.has("x_pack[UNROLL][PACK];"));
  deeper.runs();
}

TEST_CASE("a row that is dealt to lanes by its place in the whole matrix keeps its form") {
  MovePath path(test::kernel_under_test(
      "extern \"C\" __global__ void scale_rows(float* y, const float* x, int N, int C) {\n"
      "  for (int j = blockIdx.x * C + threadIdx.x; j < blockIdx.x * C + C; j += blockDim.x) {\n   "
      " y[j] = 2.0f * x[j];\n  }\n}\n",
      "scale_rows",
      {{"y", "output", "float32", "N * C"},
       {"x", "input", "float32", "N * C"},
       {"N", "scalar", "", "", 5},
       {"C", "scalar", "", "", 512}},
      "N", "128"));
  path.step("specialise_shape@argument:C");
  CHECK(path.tried("vectorize_global_loads@loop:0(width=4)") ==
        "the lanes' first indices have an offset");
  path.step("unroll_ilp@loop:0(factor=2,tail=0)").runs();
}

TEST_CASE("a lane's own sum forbids dealing the iterations anew") {
  MovePath path(row_sums(512, "  out[row * 128 + threadIdx.x] = sum;\n"));
  path.step("specialise_shape@argument:C");
  CHECK(path.tried("vectorize_global_loads@loop:0(width=4)") ==
        "sum is used before the lanes' values are combined");
  path.step("unroll_ilp@loop:0(factor=2,tail=0)").runs();
}

TEST_CASE("iterations are unrolled with their loads first, and the rest peeled or tested") {
  for (const std::string tail : {"0", "1"}) {
    MovePath path(row_sums(1003));
    path.step("unroll_ilp@loop:0(factor=4,tail=" + tail + ")");
    CHECK(path.has("float x_next[UNROLL];"));
    CHECK(path.has("sum += x_next[u];"));
    path.runs();
  }
}

TEST_CASE("a thread's own row is read in packs") {
  const std::string source =
      "extern \"C\" __global__ void row_scale(float* y, const float* x, int N, int C) {\n  int i = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i >= N) return;\n  float sum = 0.0f;\n  for (int j = 0; j < C; j++) sum += x[i * C + "
      "j];\n  for (int j = 0; j <= C - 1; ++j) {\n    y[i * C + j] = x[i * C + j] * sum;\n  }\n}\n";
  MovePath path(test::kernel_under_test(source, "row_scale",
                                        {{"y", "output", "float32", "N * C"},
                                         {"x", "input", "float32", "N * C"},
                                         {"N", "scalar", "", "", 37},
                                         {"C", "scalar", "", "", 24}},
                                        "ceil_div(N, 32)", "32"));
  path.step("specialise_shape@argument:C")
      .step("vectorize_global_loads@loop:0(width=4)")
      .step("vectorize_global_loads@loop:2(width=4)")
      .runs();
}

TEST_CASE("bias, gelu and residual in packs of eight with fast functions and streaming hints") {
  MovePath path(spec_file("bias_gelu_res"));
  path.step("vectorize_global_loads@thread(width=8)").runs();
  MovePath fast(spec_file("bias_gelu_res"));
  fast.on_gpu().step("specialise_shape@shape").step("index_math_strength@index(form=1)");
  CHECK(fast.has("int idx = blockIdx.x * blockDim.x + threadIdx.x;"));
  fast.step("vectorize_global_loads@thread(width=8)");
  CHECK(fast.has(
      "reinterpret_cast<float4*>(b_pack)[1] = reinterpret_cast<const float4*>(&b[idx % C])[1];"));
  CHECK_FALSE(fast.has("else"));
  fast.step("index_math_strength@math(form=1)")
      .step("cache_policy_cg@argument:x(policy=1)")
      .step("cache_policy_cg@argument:o(policy=1)");
  CHECK(fast.has("__stcs(reinterpret_cast<uint4*>(&o[idx]), *reinterpret_cast<uint4*>(o_pack));"));
  MovePath math(spec_file("bias_gelu_res"));
  math.step("index_math_strength@math(form=1)").runs();
}

TEST_CASE("an element that a loop adds to is kept in a register") {
  MovePath path(spec_file("spmv_csr"));
  path.step("promote_scalars@loop:0");
  CHECK(path.has("float y_value = 0.0f;"));
  CHECK(path.has("y_value += v[j] * x[ci[j]];"));
  CHECK(path.has("y[row] = y_value;"));
  path.runs();
  path.step("unroll_ilp@loop:0(factor=4,tail=1)").runs();
}

TEST_CASE("a thread's parallel loop becomes threads") {
  const std::string source =
      "extern \"C\" __global__ void add_rows(float* o, const float* x, const float* w, int N, int "
      "C) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < N) {\n    for (int c = 0; c < C; c++) {\n      o[i * C + c] = x[i * C + c] + "
      "w[c];\n    }\n  }\n}\n";
  MovePath path(test::kernel_under_test(source, "add_rows",
                                        {{"o", "output", "float32", "N * C"},
                                         {"x", "input", "float32", "N * C"},
                                         {"w", "input", "float32", "C"},
                                         {"N", "scalar", "", "", 67},
                                         {"C", "scalar", "", "", 33}},
                                        "ceil_div(N, 64)", "64"));
  path.step("flatten_parallel_loop@loop:0");
  CHECK(path.has("const int i = item / C;"));
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(67 * 33, 64)");
  path.runs();
}

TEST_CASE("a guard becomes an if, a mask, or goes where all threads pass it") {
  const std::string early = "if (i >= n) return;\n  y[i] = a[0] * x[i];";
  MovePath enclosed(axpy(1003, early));
  enclosed.step("pad_tail_and_mask@guard(form=0)");
  CHECK(enclosed.has("if (i < n) {\n    y[i] = a[0] * x[i];\n  }\n}"));
  enclosed.runs();
  MovePath(axpy(1003, early)).step("pad_tail_and_mask@guard(form=2)").runs();
  MovePath dropped(axpy(1024, early));
  CHECK(dropped.tried("pad_tail_and_mask@guard(form=1)") != "");
  dropped.step("specialise_shape@shape").step("pad_tail_and_mask@guard(form=1)");
  CHECK_FALSE(dropped.has("return"));
  dropped.runs();
  CHECK(MovePath(axpy(1003, early))
            .step("specialise_shape@shape")
            .tried("pad_tail_and_mask@guard(form=1)") == "some threads stand past the end");
}

TEST_CASE("bounds of the launch stand before the kernel's name") {
  MovePath path(spec_file("softmax_scaled"));
  path.step("launch_bounds@launch(min_blocks=2)");
  CHECK(path.has("__global__ void __launch_bounds__(BLOCK, 2) softmax_scaled("));
  path.step("launch_bounds@launch(min_blocks=1)");
  CHECK(path.has("__launch_bounds__(BLOCK) softmax_scaled("));
  path.runs().step("launch_bounds@launch(min_blocks=0)");
  CHECK(path.source() == baseline_variant(spec_file("softmax_scaled")).source);
  CHECK(path.tried("launch_bounds@launch(min_blocks=16)") ==
        "16 blocks do not fit on a multiprocessor");
  MovePath lonely(
      test::kernel_under_test("extern \"C\" __global__ void one(float* y) {\n  y[0] = 1.0f;\n}\n",
                              "one", {{"y", "output", "float32", "1"}}, "1", "1"));
  CHECK(lonely.tried("launch_bounds@launch(min_blocks=1)") ==
        "a block of less than a warp has all the registers it can name");
  CHECK(lonely.tried("cache_policy_cg@argument:y(policy=1)") ==
        "the same few elements for every thread");
}

TEST_CASE("divisions, functions and literals take cheaper forms where the tolerance has room") {
  MovePath softmax(spec_file("softmax_scaled"));
  softmax.step("index_math_strength@divide(form=1)");
  CHECK(softmax.has("const float inverse_sum = 1.0f / sum;"));
  CHECK(softmax.has("o[i * C + j] = o[i * C + j] * inverse_sum;"));
  softmax.runs().step("index_math_strength@math(form=1)");
  CHECK(softmax.has("__expf(s * x[i * C + j] - max_value)"));
  softmax.runs();
  MovePath norm(spec_file("groupnorm_silu"));
  norm.step("index_math_strength@math(form=1)");
  CHECK(norm.has("rsqrtf(var + 1e-5f)"));
  CHECK(norm.has("__fdividef(y, 1.0f + __expf(-y))"));
  norm.runs();
  MovePath nested(axpy(
      100,
      "if (i < n) y[i] = ((x[i] + 3.0f) / y[i]) / (a[0] / (x[i] /* kept */)) / (2.0f * a[0]);"));
  nested.step("index_math_strength@math(form=1)");
  CHECK(
      nested.has("y[i] = __fdividef(__fdividef(__fdividef(x[i] + 3.0f, y[i]), __fdividef(a[0], "
                 "(x[i] /* kept */))), 2.0f * a[0]);"));
  nested.runs();
  MovePath root(axpy(100, "if (i < n) y[i] = x[i] / 3.0f / (sqrtf(x[i] * x[i] + 1.0f));"));
  root.step("index_math_strength@math(form=1)");
  CHECK(root.has("y[i] = x[i] / 3.0f * (rsqrtf(x[i] * x[i] + 1.0f));"));
  root.runs();
  MovePath literal(axpy(100, "if (i < n) y[i] = 0.5 * x[i] + exp(x[i]);"));
  literal.step("index_math_strength@literals(form=1)");
  CHECK(literal.has("0.5f * x[i] + expf(x[i])"));
  literal.runs();
  CHECK(MovePath(spec_file("hist256")).tried("index_math_strength@math(form=1)") ==
        "the tolerance leaves no room for it");
}

TEST_CASE("blocks of a kernel with barriers stride over the rows") {
  MovePath path(row_sums(200));
  path.step("persistent_grid@block(blocks_per_sm=1)");
  CHECK(path.variant().launch.grid[0].text() == "min(N, 3)");
  path.runs();
}

TEST_CASE("a small input is copied in the kernel's elements, also where a loop carries an index") {
  const auto sides = [](const std::string& before, const std::string& index) {
    return test::kernel_under_test(
        "extern \"C\" __global__ void sides(float* o, const float* x, const float2* q, int n, int "
        "m) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float s "
        "= 0.0f;\n  int k = " +
            before + ";\n  for (int j = 0; j < m; k = j++) s += x[i] * (q[j].x - q[" + index +
            "].y);\n  o[i] = s;\n}\n",
        "sides",
        {{"o", "output", "float32", "n"},
         {"x", "input", "float32", "n"},
         {"q", "input", "float32", "2 * m"},
         {"n", "scalar", "", "", 320},
         {"m", "scalar", "", "", 9}},
        "ceil_div(n, 64)", "64", 1e-4);
  };
  MovePath path(sides("m - 1", "k"));
  path.step("specialise_shape@shape").step("constant_operand@argument:q(form=1)").runs();
  CHECK(path.has("alignas(16) __shared__ float2 q_shared[9];"));
  // Where threads differ they would wait for each other, and the copy is of no use.
  CHECK_FALSE(MovePath(sides("i % m", "k")).tried("constant_operand@argument:q(form=1)").empty());
}

TEST_SUITE_END();
