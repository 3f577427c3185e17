#include <doctest/doctest.h>

#include <string>

#include "tests/moves/normal/normal_kernels.h"

using namespace warpath;
using test::kIndex;
using test::Normal;
using test::refused;

// What stays as it is, and what just does not.
TEST_SUITE_BEGIN("normalise_limits");

TEST_CASE("what a helper means by a name must be what the kernel means by it") {
  const std::string scaled =
      "constexpr float kScale = 3.0f;\n__device__ float scaled(float v) {\n  float w = v;\n  w *= "
      "kScale;\n  return w;\n}\n";
  CHECK(refused(scaled,
                kIndex + "  float kScale = x[0];\n  if (i < n) y[i] = scaled(x[i]) + kScale;\n") ==
        "kScale of scaled is another in the kernel");
  const Normal same(scaled, kIndex +
                                "  if (i < n) {\n    y[i] = scaled(x[i]);\n  }\n  { float kScale = "
                                "2; if (i == 0) y[0] += 0 * kScale; }\n");
  CHECK(same.why.empty());
  CHECK(
      refused("#define HALF (v * 0.5f)\n__device__ float half_of(float v) {\n  float w = HALF;\n  "
              "w += 1;\n  return w;\n}\n",
              kIndex + "  if (i < n) y[i] = half_of(x[i]);\n") == "a macro in half_of says v");
  CHECK(
      refused(
          "#define LIMIT (n / 2)\n__device__ float far(float v, int LIM) {\n  float w = v;\n  w += "
          "LIM;\n  return w + sizeof(LIMIT_T);\n}\n",
          kIndex + "  typedef int LIMIT_T;\n  if (i < n) y[i] = far(x[i], 2);\n") ==
      "LIMIT_T of far is another in the kernel");
}

TEST_CASE("a call that may be skipped, or is repeated, stays") {
  const std::string sum =
      "__device__ float sum_to(const float* p, int m) {\n  float s = 0;\n  for (int j = 0; j < m; "
      "++j) "
      "s += p[j];\n  return s;\n}\n";
  CHECK(refused(sum, kIndex + "  if (i < n && sum_to(x, 3) > 0) y[i] = x[i];\n") ==
        "sum_to is called where it may be skipped");
  CHECK(refused(sum, kIndex + "  if (i < n) y[i] = x[i] > 0 ? sum_to(x, 2) : 0.0f;\n") ==
        "sum_to is called where it may be skipped");
  const std::string loop = "sum_to is called in the condition of a loop";
  CHECK(refused(sum, kIndex + "  if (i >= n) return;\n  float a = 0;\n  while (a < sum_to(x, 2)) a "
                              "+= 50;\n  y[i] = a;\n") == loop);
  CHECK(refused(sum, kIndex + "  if (i >= n) return;\n  float a = 0;\n  do a += 1; while (a < "
                              "sum_to(x, 2));\n  y[i] = a;\n") == loop);
  CHECK(refused(sum, kIndex + "  if (i >= n) return;\n  float a = 0;\n  for (int j = 0; j < "
                              "sum_to(x, 2); ++j) a += 1;\n  y[i] = a;\n") == loop);
  CHECK(refused(sum, kIndex + "  if (i >= n) return;\n  float a = 0;\n  for (int j = 0; j < 9; j "
                              "+= 2 + (int)sum_to(x, 0)) a += 1;\n  y[i] = a;\n") == loop);
}

TEST_CASE("variables declared together") {
  const std::string grown =
      "__device__ float grown(float v) {\n  float w = v;\n  w += 1;\n  return w;\n}\n";
  const Normal k(grown, kIndex +
                            "  if (i >= n) return;\n  float a = x[i], b = grown(x[i]), c = b * "
                            "2;\n  y[i] = a + b + c;\n");
  CHECK(k.why.empty());
  CHECK(refused(
            grown,
            kIndex + "  if (i >= n) return;\n  float a = x[i], b = grown(a);\n  y[i] = a + b;\n") ==
        "an argument of grown is declared beside its value");
}

TEST_CASE("effects keep their order, or the call stays") {
  const std::string bump =
      "__device__ float bump(float* p, int at) {\n  p[at] += 1.0f;\n  return p[at];\n}\n";
  // y[i] is read beside the call: which comes first is not certain
  CHECK(refused(bump, kIndex + "  if (i >= n) return;\n  y[i] = 0;\n  float r = y[i] + bump(y, "
                               "i);\n  y[i] = r;\n") ==
        "the order of bump and its neighbours is not certain");
  const Normal k(bump,
                 kIndex +
                     "  if (i >= n) return;\n  y[i] = x[i];\n  float s = 2;\n  s += bump(y, i) * "
                     "2;\n  bump(y, i);\n  y[i] += s;\n");
  CHECK(k.why.empty());
  const std::string grown =
      "__device__ float grown(float v) {\n  float w = v;\n  w += 1;\n  return w;\n}\n";
  CHECK(
      refused(
          grown,
          kIndex +
              "  if (i >= n) return;\n  int k = 1;\n  float r = k++ + grown(k);\n  y[i] = r;\n") ==
      "the order of grown and its neighbours is not certain");
  CHECK(refused(grown,
                kIndex +
                    "  if (i >= n) return;\n  float r = (y[i] = 1, grown(x[i]));\n  y[i] = r;\n") ==
        "the order of grown and its neighbours is not certain");
}

TEST_CASE("a value below an address, and a value that a reference keeps") {
  const Normal counted(
      "__device__ int bin_of(float v, int bins) {\n  int b = int(v * 4);\n  if (b < 0) b = 0;\n  "
      "if (b >= "
      "bins) b = bins - 1;\n  return b;\n}\n",
      kIndex +
          "  if (i < n) y[i] = 0;\n  if (i < n) atomicAdd(&y[i + 0 * bin_of(x[i], n)], 1.0f);\n");
  CHECK(counted.why.empty());
  CHECK(refused("__device__ float grown(float v) {\n  float w = v;\n  w += 1;\n  return w;\n}\n",
                kIndex + "  if (i >= n) return;\n  float&& r = grown(x[i]);\n  y[i] = r;\n") ==
        "a reference to the value of grown is kept");
}

TEST_CASE("overloads: told apart by the number of arguments, or by their very types") {
  const std::string body = kIndex + "  if (i < n) y[i] = mean(x[i], 2.0f);\n";
  const Normal k(
      "__device__ float mean(float a, float b) {\n  float s = a;\n  s += b;\n  return s / 2;\n}\n"
      "__device__ float mean(float a, float b, float c) {\n  float s = a;\n  s += b + c;\n  return "
      "s / "
      "3;\n}\n",
      body);
  CHECK(k.why.empty());
  const std::string two =
      "__device__ float mean(float a, float b) {\n  float s = a;\n  s += b;\n  return s / 2;\n}\n"
      "__device__ int mean(int a, int b) {\n  int s = a;\n  s += b;\n  return s / 2;\n}\n";
  const Normal exact(two, body);
  CHECK(exact.why.empty());
  CHECK(exact.has("float s = a"));
  CHECK(refused(two, kIndex + "  if (i < n) y[i] = mean(2, 3.0f);\n") ==
        "there is more than one mean");
  const Normal converted(two, kIndex + "  if (i < n) y[i] = mean(2, short(3));\n");
  CHECK(converted.has("int s = "));
  CHECK(
      refused(
          "__device__ float max(float a, float b) {\n  float m = a;\n  if (b > a) m = b;\n  return "
          "m;\n}\n",
          kIndex + "  if (i < n) y[i] = max(x[i], 1);\n") == "max is also a name of CUDA");
  CHECK(
      refused(
          "template <typename T>\n__device__ T same(T v) {\n  T w = v;\n  w += 1;\n  return w;\n}\n"
          "template <>\n__device__ float same<float>(float v) {\n  return v;\n}\n",
          kIndex + "  if (i < n) y[i] = same<double>(x[i]);\n") == "there is more than one same");
}

TEST_CASE("overloads for volatile memory are not those of a kernel without any") {
  const auto moved = [](const std::string& to, const std::string& from) {
    return "template <typename T>\n__device__ void moved(" + to + "T* to, const " + from +
           "T* from, int at) {\n  T one = from[at];\n  to[at] = one;\n}\n";
  };
  const std::string all = moved("", "") + moved("volatile ", "") + moved("", "volatile ");
  const Normal k(all, kIndex + "  if (i < n) moved(y, x, i);\n");
  CHECK(k.why.empty());
  CHECK(k.has("float one"));
  CHECK(refused(all, kIndex + "  volatile float* v = y;\n  if (i < n) moved(v, x, i);\n") ==
        "there is more than one moved");
}

TEST_CASE("the value of a helper whose name begins like CUDA's own gets a name") {
  const Normal k(
      "__device__ float cuda_grown(float v) {\n  float w = v;\n  w += 1;\n  return w;\n}\n",
      kIndex + "  if (i < n) y[i] = 2 * cuda_grown(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("own_cuda_grown_value"));
}

TEST_CASE("namespaces and default arguments") {
  const Normal k(
      "namespace detail {\n__device__ float grown(float v, float by = 0.5f, int times = 2) {\n  "
      "float "
      "w = v;\n  for (int j = 0; j < times; ++j) w += by;\n  return w;\n}\n}\n",
      kIndex + "  if (i < n) y[i] = detail::grown(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("w += 0.5f"));
  CHECK(refused("namespace detail {\n__device__ float one() { return 1; }\n__device__ float "
                "grown(float v) "
                "{\n  float w = v;\n  w += one();\n  return w;\n}\n}\n",
                kIndex + "  if (i < n) y[i] = detail::grown(x[i]);\n") ==
        "grown uses names of its namespace");
  const Normal before(
      "__device__ float grown(float v, float by = 0.25f);\n",
      kIndex + "  if (i < n) y[i] = grown(x[i]);\n",
      "__device__ float grown(float v, float by) {\n  float w = v;\n  w += by;\n  return w;\n}\n");
  CHECK(before.why.empty());
  CHECK(before.has("w += 0.25f"));
}

TEST_CASE("helpers with every word before them") {
  for (const char* const words :
       {"static __device__ __forceinline__ float", "__device__ __noinline__ float",
        "__host__ __device__ constexpr float", "__device__ inline static float",
        "__forceinline__ __device__ float", "float __device__ __forceinline__"}) {
    CAPTURE(words);
    const Normal k(
        std::string(words) + " cube(float v) {\n  float w = v;\n  w *= v * v;\n  return w;\n}\n",
        kIndex + "  if (i < n) y[i] = 1 + cube(x[i]);\n");
    CHECK(k.why.empty());
    CHECK(k.has("const float cube_value"));
  }
}

TEST_CASE("bodies that cannot stand in the kernel") {
  const auto why = [](const std::string& helper) {
    return refused(helper, kIndex + "  if (i < n) y[i] = f(x[i], 3);\n");
  };
  CHECK(why("__device__ float f(float v, int m) {\n  for (int j = 0; j < m; ++j) if (v > j) return "
            "j;\n  "
            "return v;\n}\n") == "f returns from the middle");
  CHECK(why("__device__ float f(float v, int m) {\n  if (m == 0) return v;\n  return f(v, m - 1) + "
            "1;\n}\n") == "f calls itself");
  CHECK(why("__device__ float g(float v, int m);\n__device__ float f(float v, int m) {\n  float w "
            "= v;\n  if (m > "
            "0) w = g(v, m - 1);\n  return w;\n}\n__device__ float g(float v, int m) {\n  float w "
            "= v;\n  if (m "
            "> 0) w = f(v, m - 1);\n  return w;\n}\n") == "f calls itself");
  CHECK(why("__device__ float f(float v, int m) {\n  float w;\n  asm(\"ld.f32 %0, %1;\" : "
            "\"=f\"(w) : "
            "\"f\"(v));\n  return w;\n}\n") == "f holds inline assembly");
  CHECK(why("__device__ float f(float v, int m) {\n  auto g = [&](float w) { return w * m; };\n  "
            "return "
            "g(v);\n}\n") == "f is not understood");
  CHECK(why("__device__ float f(float v, int m) {\n  static int calls = 0;\n  calls += m;\n  "
            "return v + "
            "calls;\n}\n") == "f keeps a variable between calls");
  CHECK(why("__device__ float f(float v, int m) {\n#ifdef __FAST\n  v *= 2;\n#endif\n  return v * "
            "m + "
            "(v++);\n}\n") == "f is not understood");
  CHECK(
      why("__device__ float f(float v, int m) {\n  struct T {\n    float w;\n  };\n  T t = {v};\n  "
          "t.w += m;\n  return t.w;\n}\n") == "f declares types of its own");
  CHECK(why("__device__ float f(float v, int m) {\n  if (v > 0) goto out;\n  v = 0;\nout:\n  "
            "return v + "
            "m;\n}\n") == "f jumps");
  CHECK(why("template <typename... T>\n__device__ float f(float v, T... m) {\n  float w = v;\n  w "
            "+= (m + "
            "...);\n  return w;\n}\n") == "f takes any number of arguments");
  CHECK(why("__device__ float f(float v, int m) {\n  extern __shared__ float part[];\n  extern "
            "__shared__ float more[];\n  part[m] = more[0] + "
            "v;\n  "
            "return part[m];\n}\n") == "a shared array of f cannot move");
  CHECK(why("__device__ float f(float v, int m) {\n  if (v > 0) {\n    if (m > 1) return v;\n    v "
            "+= m;\n  "
            "}\n  return v * 2;\n}\n") == "f returns from the middle");
}

TEST_CASE("other groups stay") {
  const std::string head = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n";
  CHECK(refused(head, "  cg::grid_group grid = cg::this_grid();\n  grid.sync();\n" + kIndex +
                          "  if (i < n) y[i] = x[i];\n") ==
        "the kernel calls cg::this_grid, whose effects are unknown");
  CHECK(refused(
            head,
            "  auto half = cg::tiled_partition<16>(cg::this_thread_block());\n" + kIndex +
                "  float v = x[i % n];\n  v += half.shfl_down(v, 8);\n  if (i < n) y[i] = v;\n") ==
        "the group cg::this_thread_block() is used in a way of its own");
  CHECK(refused(head, "  auto warp = cg::tiled_partition<32>(cg::this_thread_block());\n" + kIndex +
                          "  int m = warp.match_any(i);\n  if (i < n) y[i] = x[i] + m;\n") ==
        "the kernel calls match_any of a group of threads");
}

TEST_CASE("calls in the arguments of a macro that may repeat or skip them") {
  CHECK(
      refused("#define PICK(c, a) ((c) ? (a) : 0.0f)\n__device__ float sum_to(const float* p, int "
              "m) {\n  "
              "float s = 0;\n  for (int j = 0; j < m; ++j) s += p[j];\n  return s;\n}\n",
              kIndex +
                  "  if (i >= n) return;\n  float r = PICK(i < 4, sum_to(x, i));\n  y[i] = r;\n") ==
      "sum_to is called where it may be skipped");
}

TEST_CASE("a reference to a pointer of the kernel is the pointer, also where it moves on") {
  const Normal k(
      "__device__ float take(const float*& p, const int& step) {\n  const float v = *p;\n  p += "
      "step;\n  return v * 2;\n}\n",
      kIndex +
          "  if (i < n) {\n    const float* at = x + i;\n    float sum = 0.0f;\n    for (int k = "
          "0; "
          "k < 2 && i + 1 < n; ++k) {\n      const float v = take(at, 1);\n      sum += v;\n    "
          "}\n  "
          "  y[i] = sum;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("= *at;"));
}

TEST_CASE("words that are none of C++ everywhere are names like others") {
  const Normal k(
      "__device__ float sum_of(float v) {\n  float final = v;\n  final += 1.0f;\n  return "
      "final;\n}\n",
      kIndex +
          "  if (i < n) {\n    float final = sum_of(x[i]);\n    y[i] = final + sum_of(final);\n"
          "  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("float final_2 = "));
}

TEST_CASE("macros may say what a helper is") {
  const Normal k(
      "#define BOTH __host__ __device__\n#define BOTH_INLINE BOTH __forceinline__\nBOTH_INLINE "
      "float "
      "more(float v) {\n  float w = v;\n  w += 1.0f;\n  return w;\n}\n",
      kIndex + "  if (i < n) y[i] = more(x[i]);\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("more("));
  CHECK(refused("#define HOST __host__ inline\nHOST float more(float v) {\n  float w = v;\n  w += "
                "1.0f;\n  return w;\n}\n",
                kIndex + "  if (i < n) y[i] = more(x[i]);\n") == "more is no device function");
}

TEST_CASE("a kernel in a long text has its normal form, too") {
  std::string text;
  while (text.size() < 300'000) text += "struct Unused" + std::to_string(text.size()) + " {};\n";
  const std::string helper =
      "__device__ float more(float v) {\n  float w = v;\n  w += 1.0f;\n  return w;\n}\n";
  test::MovePath path(
      test::helped_spec(text + helper, kIndex + "  if (i < n) y[i] = more(x[i]);\n"));
  path.step("normalise@kernel");
  CHECK_FALSE(path.has("more("));
}

TEST_CASE("what the parser has seen only in part, or types say elsewhere, stays") {
  const std::string body = kIndex + "  if (i < n) y[i] = f(x[i]);\n";
  CHECK(
      refused("__device__ auto f(float v) -> float {\n  double w = v;\n  w += 1;\n  return w;\n}\n",
              body) == "f says its type behind its parameters");
  CHECK(refused("template <typename T>\n__device__ float f(T v) {\n  T w = v, u = v;\n  return "
                "w[0] + (u++)[0];\n}\n",
                kIndex + "  if (i < n) y[i] = f(x);\n") == "a template argument of f is a pointer");
  CHECK(refused("__device__ float f(float v);\n", body) == "f is defined elsewhere");
  CHECK(refused("__device__ float f(float v) {\n  float w = v;\n  w += 1;\n  return w;\n}\n",
                kIndex + "  if (i >= n) goto out;\n  y[i] = f(x[i]);\nout:\n  return;\n") ==
        "the kernel jumps");
  CHECK(refused("template <int N>\n__device__ float f(float v) {\n  float w = v;\n  w += N;\n  "
                "return w;\n}\n",
                body) == "a template argument of f does not follow");
}

TEST_SUITE_END();
