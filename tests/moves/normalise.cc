#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "moves/model/facts.h"
#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

TEST_SUITE_BEGIN("normalise");

namespace {

/// y[n] = k_helped(x[n], n) on blocks of 64 threads, with the helpers before it.
KernelSpec spec_of(const std::string& before,
                   const std::string& body,
                   const std::string& after = "") {
  const std::string source =
      before + "extern \"C\" __global__ void k_helped(float* y, const float* x, int n) {\n" + body +
      "}\n" + after;
  return test::kernel_under_test(source, "k_helped",
                                 {{"y", "output", "float32", "n"},
                                  {"x", "input", "float32", "n"},
                                  {"n", "scalar", "", "", 1000}},
                                 "(n + 63) / 64", "64");
}

const std::string kIndex = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

/// What becomes of a kernel; it gives the same results as before.
struct Normal {
  MovePath path;
  Normal(const std::string& before, const std::string& body, const std::string& after = "")
      : path(spec_of(before, body, after)) {
    path.on_gpu();
    why = path.tried("normalise@kernel");
    if (why.empty()) path.runs();
    if (std::getenv("SHOW") != nullptr)
      std::printf("----\n%s\n%s\n", why.c_str(), path.source().c_str());
  }
  [[nodiscard]] bool has(const std::string& text) const {
    return path.source().find(text) != std::string::npos;
  }
  /// Text of the kernel alone.
  [[nodiscard]] std::string kernel() const {
    const std::size_t at = path.source().find("extern");
    return at == std::string::npos ? path.source() : path.source().substr(at);
  }
  std::string why;
};

/// The reason why a kernel stays as it is.
std::string refused(const std::string& before,
                    const std::string& body,
                    const std::string& after = "") {
  MovePath path(spec_of(before, body, after));
  path.on_gpu();
  const std::string why = path.tried("normalise@kernel");
  CAPTURE(path.source());
  CHECK_FALSE(why.empty());
  CHECK(path.listed("normalise").empty());
  return why;
}

}  // namespace

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
      "__device__ float walk(const float* p, int left, int step, float scale) {\n  float s = 0;\n  "
      "while (left > 0) {\n    s += *p * scale;\n    p += step;\n    --left;\n  }\n  return "
      "s;\n}\n",
      kIndex +
          "  const float scale = 0.5f;\n  int left = n - i < 4 ? n - i : 4;\n  if (i < n) {\n    "
          "float r = walk(x + i, left, 1, scale);\n    y[i] = r + left;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("const float* p = x + i;"));
  CHECK(k.has("int left_2 = left;"));
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
  CHECK(k.has("j < 2"));
  CHECK(k.has("j < 4"));
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

TEST_SUITE_END();
