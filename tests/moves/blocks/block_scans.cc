#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

/// A block's scan of a row of N elements of x into y: `body`, with t = threadIdx.x, B threads, and
/// base, where its row begins.
KernelSpec block_scan(const std::string& body,
                      int threads = 64,
                      int n = 128,
                      const std::string& head = "",
                      const std::string& dtype = "float32") {
  const nlohmann::json few = {{"kind", "randint"}, {"low", -9}, {"high", 10}, {"seed", 1}},
                       real = {{"kind", "uniform"}, {"low", 0.0}, {"high", 1.0}, {"seed", 1}};
  const std::string type = dtype == "int32" ? "int" : "float", size = std::to_string(n);
  return test::kernel_under_test(
      head + "#define N " + size + "\n#define B " + std::to_string(threads) +
          "\nextern \"C\" __global__ void scan_rows(" + type + "* y, const " + type + "* x, " +
          type + "* sums, int rows) {\n  int t = threadIdx.x;\n  int base = blockIdx.x * N;\n" +
          body + "}\n",
      "scan_rows",
      {{"y", "output", dtype, "rows * " + size},
       {"x", "input", dtype, "rows * " + size, 0, dtype == "int32" ? few : real},
       {"sums", "inout", dtype, "rows", 0, dtype == "int32" ? few : real},
       {"rows", "scalar", "int32", "", 7}},
      "rows", std::to_string(threads), 1e-4);
}

/// Up and down a tree; AT(i) is where element i lies.
std::string tree(const std::string& middle = "    temp[AT(N - 1)] = 0;\n",
                 const std::string& condition = "t < d") {
  return R"(  __shared__ float temp[N + N / 8 + 8];
  int offset = 1;
  temp[AT(t)] = x[base + t];
  temp[AT(t + B)] = x[base + t + B];
  for (int d = N >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1;
      int bi = offset * (2 * t + 2) - 1;
      temp[AT(bi)] += temp[AT(ai)];
    }
    offset *= 2;
  }
  if (t == 0) {
)" + middle +
         R"(  }
  for (int d = 1; d < N; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if ()" +
         condition + R"() {
      int ai = AT(offset * (2 * t + 1) - 1), bi = AT(offset * (2 * t + 2) - 1);
      float t_ai = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t_ai;
    }
  }
  __syncthreads();
  y[base + t] = temp[AT(t)];
  y[base + t + B] = temp[AT(t + B)];
)";
}

const std::string kPlain = "#define AT(i) (i)\n";
const std::string kPadded =
    "#define CONFLICT_FREE_OFFSET(n) ((n) >> 4)\n#define AT(i) ((i) + CONFLICT_FREE_OFFSET(i))\n";

/// Each step in one array, read and written apart by barriers; what each thread holds at the end.
std::string two_barriers(const std::string& update = "s[t] += v",
                         const std::string& second = "__syncthreads()") {
  return R"(  __shared__ float s[B];
  s[t] = x[base + t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d <<= 1) {
    float v = 0.0f;
    if (t >= d) v = s[t - d];
    )" + second +
         R"(;
    if (t >= d) )" +
         update + R"(;
    __syncthreads();
  }
  y[base + t] = s[t];
)";
}

/// One step's results in the other half of an array.
const std::string kDoubleBuffered = R"(  __shared__ float temp[2 * N];
  int pout = 0, pin = 1;
  temp[t] = t > 0 ? x[base + t - 1] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < N; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= offset)
      temp[pout * N + t] = temp[pin * N + t] + temp[pin * N + t - offset];
    else
      temp[pout * N + t] = temp[pin * N + t];
    __syncthreads();
  }
  y[base + t] = temp[pout * N + t];
)";

const std::string kMove = "scan_parallelise(lanes=32,packs=1,vector=4)";

/// The move's first offer applies, and the kernel computes what it did.
MovePath passes(const KernelSpec& spec) {
  MovePath path(spec);
  CAPTURE(path.tried(kMove));
  const auto listed = path.listed("scan_parallelise");
  REQUIRE_FALSE(listed.empty());
  path.step(listed.front()).runs();
  CHECK_FALSE(path.has("temp["));
  return path;
}

std::string refused(const KernelSpec& spec) {
  const MovePath path(spec);
  CHECK(path.listed("scan_parallelise").empty());
  const std::string why = MovePath(spec).tried(kMove);
  CHECK_FALSE(why.empty());
  return why;
}

bool says(const KernelSpec& spec, const std::string& part) {
  const std::string why = refused(spec);
  CAPTURE(why);
  const bool out = why.find(part) != std::string::npos;
  CHECK(out);
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("block_scans");

TEST_CASE("a tree in shared memory becomes packs and shuffles, padded or not") {
  MovePath plain = passes(block_scan(tree(), 64, 128, kPlain));
  CHECK(plain.has("*reinterpret_cast<float4*>"));
  CHECK_FALSE(plain.has("__syncthreads"));
  CHECK(plain.variant().launch.grid[0].text() == "ceil_div(rows * 32, 128)");
  passes(block_scan(tree(), 64, 128, kPadded));
  CHECK(passes(block_scan(tree(), 128, 256, kPadded)).has("__syncthreads"));
}

TEST_CASE("all prefixes of a step at once, by two barriers, two arrays or two halves") {
  passes(block_scan(two_barriers(), 128, 128));
  passes(block_scan(kDoubleBuffered, 128, 128));
  passes(block_scan(R"(  __shared__ float s[2][N];
  int from = 0;
  s[0][t] = x[base + t];
  for (int d = 1; d < N; d *= 2, from ^= 1) {
    __syncthreads();
    s[from ^ 1][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
  }
  y[base + t] = s[from][t];
)",
                    128, 128));
}

TEST_CASE("the size comes from an argument and the shared memory from the launch") {
  KernelSpec spec = test::kernel_under_test(
      R"(extern "C" __global__ void prescan(float* g_odata, const float* g_idata, int n, int total) {
  extern __shared__ float temp[];
  const int thid = threadIdx.x, i = blockIdx.x * n + thid;
  int offset = 1;
  temp[thid] = i < total ? g_idata[i] : 0.0f;
  temp[thid + n / 2] = i + n / 2 < total ? g_idata[i + n / 2] : 0.0f;
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) temp[offset * (2 * thid + 2) - 1] += temp[offset * (2 * thid + 1) - 1];
    offset *= 2;
  }
  if (thid == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
      float t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  if (i < total) g_odata[i] = temp[thid];
  if (i + n / 2 < total) g_odata[i + n / 2] = temp[thid + n / 2];
}
)",
      "prescan",
      {{"g_odata", "output", "float32", "total"},
       {"g_idata", "input", "float32", "total"},
       {"n", "scalar", "int32", "", 512},
       {"total", "scalar", "int32", "", 2560}},
      "ceil_div(total, n)", "n / 2", 1e-4);
  spec.io.launch.dynamic_smem_bytes = Expression::parse("4 * n", "test");
  std::get<ReferenceKernel>(spec.reference).launch = spec.io.launch;
  const MovePath path = passes(spec);
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(total, n)");
  CHECK(path.variant().launch.block[0].text() == "128");
  CHECK(path.variant().launch.dynamic_smem_bytes == Expression(0));
  spec.io.args[3].value = std::int64_t{2551};  // the last row is shorter
  CHECK(says(spec, "not followed"));
}

TEST_CASE("up to a full tree and down half of it") {
  passes(block_scan(R"(  __shared__ float s[N];
  s[2 * t] = x[base + 2 * t], s[2 * t + 1] = x[base + 2 * t + 1];
  for (unsigned int stride = 1; stride <= B; stride *= 2) {
    __syncthreads();
    int i = (t + 1) * stride * 2 - 1;
    if (i < N) s[i] += s[i - stride];
  }
  for (unsigned int stride = N / 4; stride > 0; stride /= 2) {
    __syncthreads();
    int i = (t + 1) * stride * 2 - 1;
    if (i + stride < N) s[i + stride] += s[i];
  }
  __syncthreads();
  for (int k = t; k < N; k += blockDim.x) y[base + k] = s[k];
)"));
}

TEST_CASE("several elements a thread, warps by shuffles, and a helper") {
  passes(block_scan(R"(  __shared__ float totals[B / 32];
  float v[4], sum = 0;
  for (int k = 0; k < 4; ++k) v[k] = sum += x[base + 4 * t + k];
  float all = sum;
  for (int d = 1; d < 32; d *= 2) {
    float left = __shfl_up_sync(0xffffffffu, all, d);
    if (t % 32 >= d) all += left;
  }
  if (t % 32 == 31) totals[t / 32] = all;
  __syncthreads();
  float before = all - sum;
  for (int w = 0; w < t / 32; ++w) before += totals[w];
  for (int k = 0; k < 4; ++k) y[base + 4 * t + k] = before + v[k];
)",
                    64, 256));
  passes(block_scan(two_barriers("step(s, t, v)"), 64, 64,
                    "__device__ void step(float* s, int t, float v) {\n  s[t] = s[t] + v;\n}\n"));
  passes(block_scan(R"(  __shared__ float s[N];
  s[t] = x[base + t];
  __syncthreads();
  if (t < 32) {
    float sum = 0;
    const int share = N / 32;
    for (int k = t * share; k < (t + 1) * share; ++k) sum += s[k];
    float all = sum;
    for (int d = 1; d < 32; d *= 2) {
      float left = __shfl_up_sync(0xffffffffu, all, d);
      if (t >= d) all = all + left;
    }
    all -= sum;
    for (int k = t * share; k < (t + 1) * share; ++k) {
      float own = s[k];
      s[k] = all;
      all += own;
    }
  }
  __syncthreads();
  y[base + t] = s[t];
)",
                    128, 128));
}

TEST_CASE("in place, by pointers, and with hints for the cache") {
  const std::string own = R"(  __shared__ float s[B];
  float* row = sums + blockIdx.x * N;
  float v = __ldcs(&row[t]);
  s[t] = v;
  __syncthreads();
  for (int d = 1; d < B; d *= 2) {
    float left = t >= d ? s[t - d] : 0.0f;
    __syncthreads();
    s[t] += left;
    __syncthreads();
  }
  __stcs(row + t, s[t] - v);
  y[base + t] = s[t];
)";
  KernelSpec spec = block_scan(own, 64, 64);
  spec.io.args[2].tensor->shape = {Expression::parse("rows * 64", "test")};
  MovePath path = passes(spec);
  CHECK(path.has("*reinterpret_cast<float4*>(sums"));
  CHECK(says(block_scan(R"(  __shared__ float s[B];
  s[t] = x[base + t];
  __syncthreads();
  y[base + (t + 1) % N] = s[t];
  y[base + t] = s[t];
)",
                        64, 64),
             "without a barrier"));
}

TEST_CASE("a block's total, the largest so far, and rows that are no power of two") {
  MovePath total = passes(block_scan(tree("    sums[blockIdx.x] = temp[AT(N - 1)];\n"
                                          "    temp[AT(N - 1)] = 0;\n"),
                                     64, 128, kPadded));
  CHECK(total.has("if (lane == 0) sums[row] = running_value;"));
  passes(block_scan(two_barriers("s[t] = fmaxf(s[t], v)"), 64, 64));
  passes(block_scan(R"(  __shared__ int s[B];
  s[t] = t < N ? x[base + t] : INT_MIN;
  __syncthreads();
  for (int d = 1; d < B; d *= 2) {
    int v = t >= d ? s[t - d] : INT_MIN;
    __syncthreads();
    s[t] = max(s[t], v);
    __syncthreads();
  }
  if (t >= N) return;
  y[base + t] = s[t];
)",
                    128, 100, "#include <climits>\n", "int32"));
}

TEST_CASE("what is no scan is left alone, with the reason") {
  CHECK(says(block_scan(two_barriers("s[t] += v", ""), 64, 64), "without a barrier"));
  CHECK(says(block_scan(tree("    temp[AT(N - 1)] = 0;\n", "t < d && t != 3"), 64, 128, kPlain),
             "not followed"));
  CHECK(says(block_scan(tree("    temp[AT(N - 1)] = 2;\n"), 64, 128, kPlain), "not followed"));
  CHECK(says(block_scan(two_barriers("s[t] = s[t] * 0.5f + v"), 64, 64), "not followed"));
  CHECK(says(block_scan(two_barriers("s[t] += v * v"), 64, 64), "not followed"));
  CHECK(says(block_scan(two_barriers("if (v > 0) s[t] += v"), 64, 64), "not followed"));
  CHECK(says(block_scan(two_barriers("s[(int)s[t]] = v"), 64, 64), "not followed"));
  CHECK(says(block_scan(two_barriers() + "  sums[t] = s[0];\n", 64, 64), "more than"));
  CHECK(says(block_scan(two_barriers() + "  y[base] = s[B - 1];\n", 64, 64), "without a barrier"));
  CHECK(says(block_scan(two_barriers() + "  if (t == 0) y[base] = s[B - 1];\n", 64, 64),
             "more than"));
  CHECK(says(block_scan("  __shared__ float s[B];\n  s[t] = x[base + t];\n  __syncthreads();\n"
                        "  y[base + t] = s[B - 1 - t];\n",
                        64, 64),
             "no prefixes"));
}

TEST_SUITE_END();
