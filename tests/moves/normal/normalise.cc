#include <doctest/doctest.h>

#include <string>

#include "moves/syntax/syntax_query.h"
#include "tests/moves/normal/normal_kernels.h"

using namespace warpath;
using test::helped_spec;
using test::kIndex;
using test::MovePath;
using test::Normal;
using test::refused;

// What the normal form of a kernel says, run against the kernel as it was.
TEST_SUITE_BEGIN("normalise");

TEST_CASE("a helper with a loop becomes statements of the kernel, and is gone") {
  const Normal k(
      "__device__ float poly(float v, int terms) {\n  float sum = 0.0f;\n  for (int t = 0; t < "
      "terms; ++t) {\n    sum = sum * v + 1.0f;  // Horner\n  }\n  return sum;\n}\n",
      kIndex + "  if (i < n) {\n    y[i] = poly(x[i], 5);\n  }\n");
  CHECK(k.why.empty());
  CHECK(
      k.path.source() ==
      "extern \"C\" __global__ void k_helped(float* y, const float* x, int n) {\n" + kIndex +
          "  if (i < n) {\n    float v = x[i];\n    float sum = 0.0f;\n    for (int t = 0; t < 5; "
          "++t) {\n      sum = sum * v + 1.0f;  // Horner\n    }\n    y[i] = sum;\n  }\n}\n");
}

TEST_CASE("early returns become a nest of ifs") {
  const Normal k(
      "__device__ float clip(float v) {\n  if (v < -1.0f) return -1.0f;\n  if (v > 1.0f) {\n    "
      "return 1.0f;\n  }\n  float w = v * v;\n  return w * v;\n}\n",
      kIndex + "  if (i < n) y[i] = clip(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("clip_value = -1.0f"));
  CHECK_FALSE(k.has("return"));
}

TEST_CASE("names of the helper do not meet those of the kernel") {
  const Normal k("__device__ float twice(float i) {\n  float n = i;\n  n += i;\n  return n;\n}\n",
                 kIndex + "  if (i < n) y[i] = twice(x[i]) + twice(x[n - 1 - i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("n_2"));
}

TEST_CASE("a parameter that the body changes is a copy, others are the argument") {
  const Normal k(
      "__device__ float walk(const float* __restrict__ p, int left, int step, float scale) {\n  "
      "float s = 0;\n  "
      "while (left > 0) {\n    s += *p * scale;\n    p += step;\n    --left;\n  }\n  return "
      "s;\n}\n",
      kIndex +
          "  const float scale = 0.5f;\n  int left = n - i < 4 ? n - i : 4;\n  if (i < n) {\n    "
          "float r = walk(x + i, left, 1, scale);\n    y[i] = r + left;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("const float* p = x + i;"));
  CHECK(k.has("= left; left_2"));
  CHECK(k.has("*p * scale;"));
}

TEST_CASE("a reference is the variable itself, or the element") {
  const Normal k(
      "__device__ void add(float& sum, const float& v) {\n  float w = v * 2;\n  sum += w;\n}\n"
      "__device__ void swap(float& a, float& b) {\n  float t = a;\n  a = b;\n  b = t;\n}\n",
      kIndex +
          "  float acc[2] = {1.0f, 2.0f};\n  int k = i % 2;\n  if (i < n) {\n    add(acc[k], "
          "x[i]);\n    swap(acc[0], acc[1]);\n    float total = acc[0];\n    add(total, "
          "acc[1]);\n    y[i] = total + acc[0];\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("acc[k] += w"));
  CHECK(k.has("total += "));
}

TEST_CASE("an address given to a pointer is the variable") {
  const Normal k(
      "__device__ void minmax(float v, float* lo, float* hi) {\n  if (v < *lo) *lo = v;\n  if (v > "
      "hi[0]) hi[0] = v;\n}\n",
      kIndex +
          "  float lo = 1e30f, hi = -1e30f;\n  if (i >= n) return;\n  for (int j = 0; j < 4; "
          "j++) {\n    minmax(x[(i + j) % n], &lo, &hi);\n  }\n  y[i] = hi - lo;\n");
  CHECK(k.why.empty());
  CHECK(k.has("lo = v"));
  CHECK_FALSE(k.has("&lo"));
}

TEST_CASE("a block reduction keeps one array for all its calls, at the head") {
  const Normal k(
      "__device__ float block_sum(float v) {\n  constexpr int kWidth = 64;\n  __shared__ float "
      "part[kWidth];\n  int t = threadIdx.x;\n  part[t] = v;\n  __syncthreads();\n  for (int s = "
      "kWidth / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
      "__syncthreads();\n  }\n  float total = part[0];\n  __syncthreads();\n  return total;\n}\n",
      kIndex +
          "  float v = i < n ? x[i] : 0.0f;\n  float sum = block_sum(v);\n  float mean = "
          "block_sum(v * v) / 64 + sum;\n  if (i < n) y[i] = mean;\n");
  CHECK(k.why.empty());
  CHECK(k.path.source().find("__shared__") == k.path.source().rfind("__shared__"));
  CHECK(k.has("__shared__ float part[64];"));
}

TEST_CASE("templates: deduced, given, by default") {
  const Normal k(
      "template <typename T, int N = 3>\n__device__ __forceinline__ T power(T v) {\n  T out = "
      "T(1);\n  for (int j = 0; j < N; ++j) out *= v;\n  return out;\n}\n"
      "template <int W, typename T>\n__device__ T fold(const T* p, int at, int n) {\n  T s = 0;\n  "
      "#pragma unroll\n  for (int j = 0; j < W; ++j) s += p[(at + j) % n];\n  return s;\n}\n",
      kIndex +
          "  if (i < n) {\n    y[i] = power(x[i]) + power<float, 2>(x[i]) + fold<4>(x, i, "
          "n);\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("j < 3"));
  CHECK(k.has("j_2 < 2"));
  CHECK(k.has("j_3 < 4"));
  CHECK(k.has("float s = 0"));
}

TEST_CASE("helpers that call helpers, declared before and defined behind") {
  const Normal k(
      "__device__ float outer(float v, int m);\nstatic __device__ inline float inner(float v) {\n  "
      "float w = v + 1;\n  return w * w;\n}\n",
      kIndex + "  if (i < n) y[i] = outer(x[i], 2);\n",
      "__device__ float outer(float v, int m) {\n  float s = 0;\n  for (int j = 0; j < m; ++j) {\n "
      " "
      "  s += inner(v + j);\n  }\n  return s;\n}\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("inner("));
  CHECK_FALSE(k.has("outer("));
}

TEST_CASE("blocks of a helper that hide a parameter, and members named like locals") {
  const Normal k(
      "__device__ float hidden(float v, float2 p) {\n  float x = p.x;\n  {\n    float v = 2.0f;\n  "
      "  x "
      "+= v;\n  }\n  for (int v = 0; v < 2; ++v) x += p.y;\n  return x * v;\n}\n",
      kIndex + "  if (i < n) y[i] = hidden(x[i], make_float2(x[i], 1.5f));\n");
  CHECK(k.why.empty());
  CHECK(k.has("p.x"));
}

TEST_CASE("arguments are evaluated once, also those with effects") {
  const Normal k(
      "__device__ float three(float v, int m) {\n  float s = 0;\n  for (int j = 0; j < 3; ++j) s "
      "+= v + "
      "m;\n  return s;\n}\n",
      kIndex +
          "  int k = 1;\n  if (i < n) {\n    float a = three(x[i], k++);\n    a += three(x[i] * 2, "
          "++k);\n    y[i] = a + k;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("= k;\n    k++;"));
}

TEST_CASE("what is passed by value and by reference at once is a copy") {
  const Normal k(
      "__device__ void shift(int by, int& at) {\n  at += by;\n  at += by;\n}\n",
      kIndex + "  int k = i % 5;\n  if (i < n) {\n    shift(k, k);\n    y[i] = x[i] + k;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("int by = k;"));
  const Normal pointed(
      "__device__ void shift(int by, int* at) {\n  *at += by;\n  *at += by;\n}\n",
      kIndex + "  int k = i % 5;\n  if (i < n) {\n    shift(k, &k);\n    y[i] = x[i] + k;\n  }\n");
  CHECK(pointed.why.empty());
  CHECK(pointed.has("int by = k;"));
}

TEST_CASE("const references to values of another type, and to expressions") {
  const Normal k(
      "__device__ float mixed(const float& a, const float& b, const int& m) {\n  float s = a;\n  "
      "for "
      "(int j = 0; j < m; ++j) s += b;\n  return s;\n}\n",
      kIndex +
          "  int k = i % 3;\n  if (i < n) {\n    float r = mixed(k, x[i] * 2, 3);\n    y[i] = r;\n "
          " "
          "}\n");
  CHECK(k.why.empty());
  CHECK(k.has("const float a = k;"));
  CHECK(k.has("const float b = x[i] * 2;"));
  CHECK(k.has("j < 3"));
}

TEST_CASE("arguments of another type are converted as at the call") {
  const Normal k(
      "__device__ int whole(int v, unsigned char low) {\n  int s = v;\n  s += low;\n  return "
      "s;\n}\n",
      kIndex +
          "  if (i < n) {\n    float r = whole(x[i] * 100, i * 3) / 2;\n    y[i] = r;\n    float z "
          "= "
          "whole(2, 300);\n    y[i] += z;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("unsigned char low = i * 3;"));
  CHECK(k.has("const int whole_value"));
}

TEST_CASE("a call in a condition, a loop's start, a branch without braces, a switch") {
  const Normal k(
      "__device__ int count(float v, int m) {\n  int c = 0;\n  for (int j = 0; j < m; ++j) c += v "
      "> j "
      "? 1 : 0;\n  return c;\n}\n",
      kIndex +
          "  if (i >= n) return;\n  float r = 0;\n  if (count(x[i], 2) > 1)\n    r = 1;\n  else if "
          "(count(-x[i], 2) > 1)\n    r = count(x[i], 3);\n  else\n    r = 4;\n  for (int j = "
          "count(x[i], 2); j < 4; ++j) r += j;\n  switch (count(x[i], 1)) {\n    case 0:\n      r "
          "+= 5;\n      break;\n    default:\n      r += count(x[i], 4);\n  }\n  y[i] = r;\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("count("));
}

TEST_CASE("a procedure that returns early") {
  const Normal k(
      "__device__ void store(float* out, int at, int end, float v) {\n  if (at >= end) return;  // "
      "outside\n  float w = v + 1;\n  if (w < 0) {\n    out[at] = 0;\n    return;\n  }\n  out[at] "
      "= w;\n}\n",
      kIndex + "  store(y, i, n, i < n ? x[i] : 0);\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("return"));
}

TEST_CASE("vectors, pointers and values in braces") {
  const Normal k(
      "struct Pair {\n  float a;\n  float b;\n};\n__device__ Pair split(float v) {\n  float h = "
      "v;\n  h "
      "*= 0.5f;\n  return {h, v - h};\n}\n"
      "__device__ const float* behind(const float* p, int by) {\n  int k = by;\n  k += 0;\n  "
      "return p + "
      "k;\n}\n__device__ float2 turned(float2 p) {\n  float t = p.x;\n  p.x = p.y;\n  p.y = t;\n  "
      "return "
      "p;\n}\n",
      kIndex +
          "  if (i >= n) return;\n  const float* mine = behind(x, i);\n  Pair p = split(*mine);\n  "
          "float2 q = turned(make_float2(p.a, p.b));\n  y[i] = q.x * 2 + q.y + split(x[0]).a;\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("turned("));
}

TEST_CASE("loop macros and statement macros of the file are written out") {
  const Normal k(
      "#define CUDA_KERNEL_LOOP(i, n)                              \\\n  for (int i = blockIdx.x * "
      "blockDim.x + threadIdx.x; i < (n); \\\n       i += blockDim.x * gridDim.x)\n"
      "#define SWAP(a, b) do { float t_ = (a); (a) = (b); (b) = t_; } while (0)\n",
      "  CUDA_KERNEL_LOOP(i, n / 1) {\n    float a = x[i], b = 2.0f;\n    SWAP(a, b);\n    y[i] = "
      "a - "
      "b;  // swapped\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("i < (n / 1)"));
  CHECK(k.has("(a) = (b)"));
  CHECK(k.has("// swapped"));
  const std::string loop = "  if (n > 0) {\n    EACH(i, n) { y[i] = x[i]; }\n  }\n";
  CHECK(refused("#define EACH(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x, i##_2 = 0; "
                "i < (n); i "
                "+= blockDim.x * gridDim.x)\n",
                loop) == "EACH makes tokens of its arguments");
  CHECK(refused("#define EACH(i, n) for (int i = 0; i < (n); ++i)\n#undef EACH\n#define EACH(i, n) "
                "for (int i "
                "= blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)\n",
                loop) == "EACH is defined more than once");
}

TEST_CASE("a macro with a comma in its arguments is read as the preprocessor reads it") {
  const Normal k("#define KEEP(target, value) { target = value; }\n",
                 kIndex + "  if (i < n) {\n    KEEP(y[i], fmaxf(x[i], 0.5f));\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("{ y[i] = fmaxf(x[i], 0.5f); }"));
}

TEST_CASE("types of several words, pragmas that say a parameter") {
  const Normal k(
      "__device__ unsigned int half_of(unsigned v) {\n  unsigned w = v;\n  w -= 1;\n  return "
      "w;\n}\n"
      "__device__ unsigned long long wide(unsigned v) {\n  unsigned long long w = v;\n  w <<= "
      "33;\n  "
      "return w;\n}\n__device__ const unsigned char low(int v) {\n  int w = v;\n  w *= 3;\n  "
      "return w;\n}\n"
      "template <int N>\n__device__ float sum(float v) {\n  constexpr int kTwice = 2 * N;\n  float "
      "s = "
      "0;\n#pragma unroll N\n  for (int j = 0; j < N; ++j) s += v;\n  #pragma unroll kTwice\n  for "
      "(int j = "
      "0; j < kTwice; ++j) s += v;\n  return s;\n}\n",
      kIndex +
          "  if (i >= n) return;\n  int kTwice = i % 2;\n  y[i] = half_of(kTwice) / 3 + wide(i) % "
          "1000 + low(i * 50) + sum<4>(x[i]) + "
          "kTwice;\n");
  CHECK(k.why.empty());
  CHECK(k.has("#pragma unroll 4"));
  CHECK(k.has("#pragma unroll kTwice_2"));
  CHECK(k.has("unsigned int half_of_value"));
  CHECK(k.has("unsigned long long wide_value"));
  CHECK(k.has("unsigned char low_value"));
}

TEST_CASE("a structural move takes the way over the normal form, to the same node") {
  const KernelSpec spec = helped_spec(
      "#define EACH(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += "
      "blockDim.x * "
      "gridDim.x)\n__device__ float series(float v) {\n  float s = 0;\n  for (int t = 0; t < 3; "
      "++t) s = s * v "
      "+ 1.0f;\n  return s;\n}\n",
      kIndex + "  if (i < n) {\n    y[i] = series(x[i]);\n  }\n");
  MovePath at_once(spec), by_steps(spec);
  at_once.on_gpu(), by_steps.on_gpu();
  by_steps.step("normalise@kernel");
  int compared = 0;
  for (const char* const move :
       {"vectorize_global_loads", "register_block", "flatten_parallel_loop"}) {
    const auto listed = at_once.listed(move);
    CHECK(listed == by_steps.listed(move));
    for (const std::string& text : listed) {
      MovePath one = at_once, two = by_steps, three = by_steps;
      one.step(text), two.step(text), three.step("specialise_shape@shape").step(text);
      CHECK(variant_key(one.variant()) == variant_key(two.variant()));
      CHECK(variant_key(one.variant()) == variant_key(three.variant()));
      ++compared;
    }
    if (!listed.empty()) MovePath(at_once).step(listed.front()).runs();
  }
  CHECK(compared > 2);
}

TEST_CASE("a kernel that the facts follow is in normal form") {
  CHECK(refused("__device__ float twice(float v) { return v * 2; }\n",
                kIndex + "  if (i < n) y[i] = twice(x[i]);\n") ==
        "the facts follow all of the kernel");
  CHECK(refused("", kIndex + "  if (i < n) y[i] = x[i];\n  if (i < 0) printf(\"no\");\n") ==
        "the kernel calls printf, whose effects are unknown");
}

namespace {

/// The kernel with groups of threads in normal form, run against one that says the same without.
Normal grouped(const std::string& with, const std::string& without) {
  Normal out("", without);
  CHECK(out.why == "the facts follow all of the kernel");
  KernelSpec spec = helped_spec("", without);
  const test::HostCheck check(spec);
  spec.source =
      helped_spec("#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n", with)
          .source;
  out.path = MovePath(spec);
  out.path.on_gpu();
  out.why = out.path.tried("normalise@kernel");
  if (out.why.empty()) check.passes(out.path.variant());
  return out;
}

}  // namespace
TEST_CASE("cooperative groups that are the block become barriers and indices") {
  const std::string plain =
      "  __shared__ float part[64];\n  int t = threadIdx.x;\n  int i = blockIdx.x * blockDim.x + "
      "t;\n  "
      "part[t] = i < n ? x[i] : 0;\n  __syncthreads();\n  if (i < n) y[i] = part[63 - t] + "
      "blockDim.x;\n";
  const Normal k = grouped(
      "  cg::thread_block block = cg::this_thread_block();\n  __shared__ float part[64];\n  int t "
      "= "
      "block.thread_rank();\n  int i = block.group_index().x * block.size() + "
      "block.thread_index().x;\n  "
      "part[t] = i < n ? x[i] : 0;\n  block.sync();\n  cg::sync(block);\n  "
      "cg::this_thread_block().sync();\n  if (i < n) y[i] = part[63 - t] + block.size();\n",
      plain);
  CHECK(k.why.empty());
  CHECK(k.has("int t = threadIdx.x;"));
  CHECK(k.has("blockIdx.x * blockDim.x + threadIdx.x"));
  CHECK_FALSE(k.has("cooperative_groups"));
  CHECK_FALSE(k.has("cg"));
}

TEST_CASE("tiles of 32 threads become shuffles") {
  const std::string plain =
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float v = i < n ? x[i] : 0;\n  for (int "
      "o = 16; "
      "o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o);\n  if (i < n) y[i] = v + threadIdx.x "
      "% "
      "32;\n";
  const Normal k = grouped(
      "  auto block = cg::this_thread_block();\n  cg::thread_block_tile<32> warp = "
      "cg::tiled_partition<32>(block);\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float "
      "v = i < n "
      "? x[i] : 0;\n  for (int o = warp.size() / 2; o > 0; o /= 2) v += warp.shfl_xor(v, o);\n  "
      "warp.sync();\n  if (i < n) y[i] = v + warp.thread_rank();\n",
      plain);
  CHECK(k.why.empty());
  CHECK(k.has("__shfl_xor_sync(0xffffffff, v, o)"));
  CHECK(k.has("__syncwarp()"));
}

TEST_CASE("groups in the hands of helpers") {
  const Normal k = [] {
    const std::string plain =
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float v = i < n ? x[i] : 0;\n  for "
        "(int o = 16; "
        "o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);\n  if (threadIdx.x % 32 == 0 && i "
        "< n) y[i] = "
        "v;\n  else if (i < n) y[i] = 0;\n";
    KernelSpec spec = helped_spec("", plain);
    const test::HostCheck check(spec);
    spec.source =
        helped_spec(
            "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n__device__ float "
            "warp_sum(cg::thread_block_tile<32> tile, float v) {\n  for (int o = tile.size() / 2; "
            "o > 0; o "
            "/= 2) v += tile.shfl_down(v, o);\n  return v;\n}\n",
            "  cg::thread_block block = cg::this_thread_block();\n  cg::thread_block_tile<32> warp "
            "= "
            "cg::tiled_partition<32>(block);\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  "
            "float v "
            "= warp_sum(warp, i < n ? x[i] : 0);\n  if (warp.thread_rank() == 0 && i < n) y[i] = "
            "v;\n  else "
            "if (i < n) y[i] = 0;\n")
            .source;
    Normal out("", plain);
    out.path = MovePath(spec);
    out.path.on_gpu();
    out.why = out.path.tried("normalise@kernel");
    if (out.why.empty()) check.passes(out.path.variant());
    return out;
  }();
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("warp_sum("));
  CHECK_FALSE(k.has("cg::"));
}

TEST_CASE("a parameter changed behind a macro, a reference, a condition or another helper") {
  const Normal k(
      "#define INC(a) ((a) += 1)\n__device__ void more(int& v) {\n  v += 1;\n  v *= 2;\n}\n"
      "__device__ int changed(int a, int b, int c, int d) {\n  INC(a);\n  int& r = b;\n  r += 1;\n "
      " "
      "(a > 3 ? c : d) = 7;\n  more(d);\n  return a + b * 2 + c * 3 + d * 5;\n}\n",
      kIndex +
          "  int k = i % 5;\n  if (i < n) {\n    int got = changed(k, k, k, k);\n    y[i] = x[i] + "
          "got "
          "+ k * 100;\n  }\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("changed("));
  CHECK_FALSE(k.has("more("));
}

TEST_CASE("a shared variable is copied: other threads change it while the helper runs") {
  const Normal k(
      "__device__ float later(float v, float* to) {\n  float w = v;\n  __syncthreads();\n  if "
      "(threadIdx.x == "
      "0) *to = w + 1;\n  __syncthreads();\n  return v + w;\n}\n",
      kIndex +
          "  __shared__ float one;\n  if (threadIdx.x == 0) one = 3;\n  __syncthreads();\n  float "
          "r = "
          "later(one, &one);\n  if (i < n) y[i] = r + x[i] + one;\n");
  CHECK(k.why.empty());
  CHECK(k.has("float v = one;"));
}

TEST_CASE("a loop without braces keeps its pragma and its call") {
  const Normal k(
      "__device__ float grown(float v) {\n  float w = v;\n  w += 1;\n  return w;\n}\n",
      kIndex +
          "  if (i >= n) return;\n  float s = 0;\n#pragma unroll 2\n  for (int j = 0; j < 4; "
          "++j)\n    s "
          "+= grown(x[i] * j);\n  for (int j = 0; j < 2; ++j) s = grown(s);\n  y[i] = s;\n");
  CHECK(k.why.empty());
  CHECK(k.has("#pragma unroll 2\n  for (int j = 0; j < 4; ++j)\n    {"));
}

TEST_CASE("constant tables, conditions at compile time, rows and references to arrays") {
  const Normal k(
      "__device__ float table(int at) {\n  const float weights[3] = {1.0f, 2.0f, 4.0f};\n  float s "
      "= 0;\n  "
      "for (int j = 0; j <= at; ++j) s += weights[j];\n  return s;\n}\n"
      "template <int N>\n__device__ float rows(const float (&m)[2][N]) {\n  float s = 0;\n  for "
      "(int r = 0; r < "
      "2; ++r)\n    for (int c = 0; c < N; ++c) s += m[r][c];\n  return s;\n}\n"
      "template <bool kTwice>\n__device__ float maybe(float v) {\n  float w = v;\n  if constexpr "
      "(kTwice) w *= "
      "2;\n  return w;\n}\n",
      kIndex +
          "  if (i >= n) return;\n  float m[2][3] = {{1, 2, 3}, {x[i], 5, 6}};\n  float s = "
          "table(i % 3);\n  "
          "s += rows<3>(m);\n  y[i] = s + maybe<true>(x[i]) + maybe<false>(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("s_3 += m[r][c]"));
  CHECK(k.has("if constexpr (true)"));
}

TEST_CASE("what else refers to a helper keeps it") {
  const Normal k(
      "__device__ float grown(float v) {\n  float w = v;\n  w += 1;\n  return w;\n}\n// Of "
      "nobody.\n"
      "__device__ float unused(float v) {\n  return grown(v);\n}\n",
      kIndex + "  if (i < n) y[i] = grown(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("__device__ float grown(float v)"));
  CHECK(k.has("// Of nobody."));
}

TEST_SUITE_END();
