#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "register_moves.h"
#include "tests/moves/normal/normal_kernels.h"

using namespace warpath;
using test::kIndex;
using test::MovePath;
using test::Normal;
using test::refused;

// Which class, type or memory a name of a helper means in the normal form, run against the kernel
// as it was.
TEST_SUITE_BEGIN("normalise_types");

namespace {

const std::string kLines = kIndex + "  if (i >= n) return;\n";
const std::string kFollowed = "the facts follow all of the kernel";

}  // namespace

TEST_CASE("a specialisation for the very types comes before all others, whatever they are for") {
  const std::string classes =
      "template <typename T>\nstruct Number {};\ntemplate <>\nstruct Number<float*> {\n  static "
      "__device__ float twice(float v) { return 0.0f; }\n};\ntemplate <>\nstruct Number<float> {\n "
      " "
      "static __device__ float twice(float v) {\n    float w = v;\n    w += v;\n    return w;\n  "
      "}\n};\n";
  const Normal k(classes, kLines + "  y[i] = Number<float>::twice(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("w += v"));
  const Normal four(
      "template <typename T, int N>\nstruct Pack {};\ntemplate <>\nstruct Pack<float, 1> {\n  "
      "static __device__ float of(float v) { return 0.0f; }\n};\ntemplate <int N>\nstruct "
      "Pack<float, N> {\n  static __device__ float of(float v) {\n    float w = v;\n    for (int "
      "k = 0; k < N; ++k) w += v;\n    return w;\n  }\n};\n",
      kLines + "  y[i] = Pack<float, 2 + 2>::of(x[i]);\n");
  CHECK(four.why.empty());
  CHECK(four.has("k < (2 + 2)"));
  // half of these arguments fit: another partial specialisation may, too
  CHECK_FALSE(
      refused("template <typename T, typename U>\nstruct Pair {};\ntemplate <typename "
              "U>\nstruct Pair<float*, U> {\n  static __device__ float of(float v) { return "
              "0.0f; }\n};\ntemplate <typename U>\nstruct Pair<float, U*> {\n  static "
              "__device__ float of(float v) {\n    float w = v;\n    w += v;\n    return "
              "w;\n  }\n};\n",
              kLines + "  y[i] = Pair<float, int*>::of(x[i]);\n")
          .empty());
}

TEST_CASE("members hide no functions of CUDA outside of their class") {
  const std::string numbers =
      "struct Number {\n  static __device__ float max(float v) { return v; }\n  static __device__ "
      "float max() { return 3.0f; }\n};\n";
  CHECK(refused(numbers, kLines + "  y[i] = max(x[i], 0.0f);\n") == kFollowed);
  const Normal k(
      "struct Number {\n  static __device__ float fabsf(float v) {\n    float w = v;\n   "
      " w += 1;\n    return ::fabsf(w);\n  }\n};\n",
      kLines + "  y[i] = Number::fabsf(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("::fabsf(w)"));
  // in the class it is the member, which may do anything
  CHECK(
      refused("struct Number {\n  float calls;\n  __device__ float exp(float v) {\n    calls += "
              "1;\n    return v;\n  }\n  __device__ float both(float v) {\n    float w = v;\n    w "
              "+= exp(v);\n    return w;\n  }\n};\n",
              kLines + "  Number s;\n  s.calls = 0;\n  y[i] = s.both(x[i]) + s.calls;\n") ==
      "both calls another member named like a function");
}

TEST_CASE("the types that template parameters have by default") {
  const Normal k(
      "template <typename T, int kTimes = 3, typename Sum = double>\n__device__ T "
      "summed(T v) {\n  Sum sum = 0;\n  for (int t = 0; t < kTimes; ++t) sum += v;\n  "
      "return sum;\n}\n",
      kLines + "  y[i] = summed<float>(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("double sum = 0"));
  CHECK(k.has("t < 3"));
}

TEST_CASE("names that a helper gives to types are told apart from all others") {
  const Normal k(
      "__device__ float whole(float v) {\n  using Number = int;\n  Number w = v * 8;\n  w += 1;\n  "
      "return w;\n}\n__device__ float broken(float v) {\n  typedef float Number;\n  Number w = v * "
      "8;\n  w += 1;\n  return w;\n}\n",
      kLines +
          "  using Number = double;\n  Number sum = whole(x[i]);\n  sum += broken(x[i]);\n  sum += "
          "whole(x[n - 1 - i]);\n  y[i] = sum;\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("whole("));
  CHECK(k.has("using Number_2 = int"));
  CHECK(refused("__device__ float handed(float v) {\n  using Number = float;\n  __shared__ Number "
                "s[64];\n  s[threadIdx.x] = v;\n  __syncthreads();\n  return s[threadIdx.x ^ "
                "1];\n}\n",
                kIndex + "  float v = handed(i < n ? x[i] : 0.0f);\n  if (i < n) y[i] = v;\n") ==
        "a shared array of handed cannot move");
  CHECK(refused("__device__ float summed(float v) {\n  typedef float Number, *Numbers;\n  Number w "
                "= v;\n  w += 1;\n  return w;\n}\n",
                kLines + "  y[i] = summed(x[i]);\n") == "summed declares types of its own");
  CHECK(
      refused("__device__ float summed(float v) {\n  struct Both {\n    float a, b;\n  };\n  Both "
              "both = {v, v};\n  both.a += 1;\n  return both.a + both.b;\n}\n",
              kLines + "  y[i] = summed(x[i]);\n") == "summed declares types of its own");
}

TEST_CASE("the launch's shared memory comes from a helper, once") {
  const std::string memory =
      "template <typename T>\nstruct Memory {\n  __device__ T* get() {\n    extern __shared__ "
      "float "
      "floats[];\n    return floats;\n  }\n};\n";
  KernelSpec spec = test::helped_spec(
      memory, kIndex +
                  "  Memory<float> memory;\n  float* s = memory.get();\n  "
                  "s[threadIdx.x] = i < n ? x[i] : 0.0f;\n  __syncthreads();\n  if "
                  "(i < n) y[i] = s[threadIdx.x ^ 1] + s[threadIdx.x];\n");
  spec.io.launch.dynamic_smem_bytes = Expression(256);
  std::get<ReferenceKernel>(spec.reference).launch.dynamic_smem_bytes = Expression(256);
  MovePath path(spec);
  path.on_gpu().step("normalise@kernel").runs();
  CHECK_FALSE(path.has("memory.get()"));
  // the kernel has an array there already: both would be one
  CHECK_FALSE(refused(memory, kIndex +
                                  "  extern __shared__ float own[];\n  own[threadIdx.x] = 1.0f;\n  "
                                  "Memory<float> memory;\n  float* s = memory.get();\n  if (i < n) "
                                  "y[i] = s[threadIdx.x] + x[i];\n")
                  .empty());
}

TEST_CASE("limits of numbers are values, each its own") {
  const KernelSpec spec = test::helped_spec(
      "#include <limits>\n",
      kLines +
          "  float v = x[i];\n  int low = std::numeric_limits<int>::min(), high = "
          "std::numeric_limits<int>::max();\n  y[i] = low == high ? 0.0f : v;\n");
  MovePath path(spec);
  CHECK(path.on_gpu().tried("normalise@kernel") == kFollowed);
}

TEST_CASE("parts of elements are accesses of the array") {
  const KernelSpec spec = test::helped_spec(
      "", kIndex +
              "  if (i >= n / 4) return;\n  float4 v[1];\n  v[0] = reinterpret_cast<const "
              "float4*>(x)[i];\n  float* w = reinterpret_cast<float*>(&v[0]);\n  for (int j = 0; j "
              "< 4; ++j) w[j] = w[j] * 2.0f + 1.0f;\n  for (int j = 0; j < 4; ++j) y[4 * i + j] = "
              "reinterpret_cast<float*>(v)[j];\n");
  CHECK(MovePath(spec).on_gpu().tried("normalise@kernel") == kFollowed);
  const MoveRegistry& registry = registered_moves();
  std::size_t ran = 0;
  for (const auto& [move, entry] : registry.entries()) {
    const std::vector<std::string> listed = MovePath(spec).listed(move);
    for (std::size_t i = 0; i < std::min<std::size_t>(listed.size(), 4); ++i) {
      CAPTURE(listed[i]);
      MovePath(spec).step(listed[i]).runs();
      ++ran;
    }
  }
  CHECK(ran > 3);
  // of memory that others see too
  CHECK(refused("", kLines + "  const short* h = reinterpret_cast<const short*>(x + i);\n  y[i] = "
                             "h[0];\n") == kFollowed);
}

TEST_CASE(
    "a class that several scopes have, or a number that the kernel names anew, is not guessed") {
  const auto number = [](const std::string& scope, const std::string& added) {
    return "namespace " + scope +
           " {\ntemplate <typename T>\nstruct Number {};\ntemplate <>\nstruct Number<float> {\n  "
           "static __device__ float of(float v) {\n    float w = v;\n    w += " +
           added + ";\n    return w;\n  }\n};\n}\n";
  };
  CHECK_FALSE(refused(number("a", "1") + number("b", "2") + "using namespace b;\n",
                      kLines + "  y[i] = Number<float>::of(x[i]);\n")
                  .empty());
  const std::string packs =
      "constexpr int kLanes = 4;\ntemplate <typename T, int N>\nstruct Pack {};\ntemplate "
      "<>\nstruct Pack<float, 4> {\n  static __device__ float of(float v) {\n    float w = v;\n    "
      "w += 4;\n    return w;\n  }\n};\ntemplate <>\nstruct Pack<float, 2> {\n  static __device__ "
      "float of(float v) {\n    float w = v;\n    w += 2;\n    return w;\n  }\n};\n";
  const std::string call = "  y[i] = Pack<float, kLanes>::of(x[i]);\n";
  const Normal file(packs, kLines + call);
  CHECK(file.has("w += 4"));
  CHECK_FALSE(refused(packs, kLines + "  constexpr int kLanes = 2;\n" + call).empty());
}

TEST_CASE("a specialisation for two equal types is not that for two others") {
  CHECK_FALSE(refused("template <typename T, typename U>\nstruct Pair {\n  static __device__ float "
                      "of(float v) {\n    float w = v;\n    w += 1;\n    return w;\n  "
                      "}\n};\ntemplate <typename T>\nstruct Pair<T, T> {\n  static __device__ "
                      "float of(float v) {\n    float w = v;\n    w += 2;\n    return w;\n  "
                      "}\n};\n",
                      kLines + "  y[i] = Pair<float, int>::of(x[i]);\n")
                  .empty());
}

TEST_CASE("a specialisation that has its functions elsewhere hides those of the template") {
  const std::string general =
      "struct Two {\n  static __device__ float of(float v) {\n    float w = v;\n    w += 2;\n    "
      "return w;\n  }\n};\ntemplate <typename T>\nstruct Number {\n  static __device__ float "
      "of(float v) {\n    float w = v;\n    w += 1;\n    return w;\n  }\n};\n";
  const std::string call = kLines + "  y[i] = Number<float>::of(x[i]);\n";
  const Normal k(general, call);
  CHECK(k.has("w += 1"));
  CHECK_FALSE(refused(general + "template <>\nstruct Number<float> : Two {};\n", call).empty());
  CHECK_FALSE(refused(general +
                          "template <>\n__device__ float Number<float>::of(float v) {\n  float w = "
                          "v;\n  w += 3;\n  return w;\n}\n",
                      call)
                  .empty());
}

TEST_CASE(
    "a template argument by default is made of those before it, and of no name of the kernel") {
  const Normal half(
      "template <int n, int m = n / 2>\n__device__ float raised(float v) {\n  for (int k = 0; k < "
      "m; ++k) v += 1;\n  return v;\n}\n",
      kLines + "  y[i] = raised<8>(x[i]);\n");
  CHECK(half.why.empty());
  CHECK(half.has("8 / 2"));
  const Normal same(
      "template <typename T, typename Sum = T>\n__device__ T twice(T v) {\n  Sum w = v;\n  w += "
      "v;\n  return w;\n}\n",
      kLines + "  y[i] = twice<float>(x[i]);\n");
  CHECK(same.has("float w"));
  CHECK_FALSE(refused("constexpr int n = 3;\ntemplate <int m = n>\n__device__ float raised(float "
                      "v) {\n  for (int k = 0; k < m; ++k) v += 1;\n  return v;\n}\n",
                      kLines + "  y[i] = raised(x[i]);\n")
                  .empty());
}

TEST_CASE("overloads and specialisations keep shared arrays of their own") {
  const std::string lanes = kIndex + "  const float v = i < n ? x[i] : 0.0f;\n";
  const Normal k(
      "__device__ float handed(float v) {\n  __shared__ float s[64];\n  s[threadIdx.x] = v;\n  "
      "__syncthreads();\n  return s[threadIdx.x ^ 1];\n}\n__device__ int handed(int v) {\n  "
      "__shared__ int s[64];\n  s[threadIdx.x] = v;\n  __syncthreads();\n  return s[threadIdx.x ^ "
      "1];\n}\n",
      lanes +
          "  const int count = (int)(v * 8.0f) + 16777217;\n  const float a = handed(v);\n  const "
          "int b = handed(count);\n  if (i < n) y[i] = a + (float)(b % 4);\n");
  if (k.why.empty()) CHECK(k.has("int s"));
}

TEST_CASE("a call means a function that stands before it") {
  const std::string part = "__device__ float part(float a, float b) { return a + b; }\n",
                    other = "__device__ float part(float a, double b) { return a - b; }\n",
                    outer = "__device__ float outer(float a) { return part(a, 2.5) * 2; }\n",
                    body = kIndex + "  if (i < n) y[i] = outer(x[i]);\n";
  CHECK(refused(part + outer + other, body) == "part is another behind outer");
  const Normal k(part +
                     "__device__ float outer(float a) {\n  float s = part(a, 2.5f);\n  s *= 2;\n"
                     "  return s;\n}\n",
                 body);
  CHECK(k.why.empty());
}

TEST_SUITE_END();
