#include <doctest/doctest.h>

#include <string>

#include "tests/moves/normal/normal_kernels.h"

using namespace warpath;
using test::kIndex;
using test::Normal;
using test::refused;

// Member functions, accesses in macros and loops with an index from outside in the normal form, run
// against the kernel as it was.
TEST_SUITE_BEGIN("normalise_members");

namespace {

const std::string kLines = kIndex + "  if (i >= n) return;\n";

}  // namespace

TEST_CASE("a static member of a class template is a helper with the arguments of the class") {
  const Normal k(
      "template <int kTerms>\nstruct Series {\n  static constexpr float kStart = 0.5f;\n  static "
      "__device__ float halved(float v) { return v * kStart; }\n  static __device__ float of(float "
      "v) "
      "{\n    float sum = kStart;\n    for (int t = 0; t < kTerms; ++t) {\n      sum = sum * v + "
      "halved(v);\n    }\n    return sum;\n  }\n};\n",
      kLines + "  y[i] = Series<3>::of(x[i]);\n");
  CHECK(k.why.empty());
  CHECK(k.has("t < 3"));
  CHECK(k.has("Series<3>::kStart"));
  CHECK_FALSE(k.has("Series<3>::halved"));
}

TEST_CASE("an object that is called is its operator, with its members") {
  const Normal k(
      "template <typename T>\nstruct Scaled {\n  T by;\n  __device__ T operator()(T a, T b) const "
      "{\n "
      "   T w = a;\n    w += b * by;\n    return w;\n  }\n};\ntemplate <typename T, typename "
      "Op>\n__device__ T folded(T v, Op op) {\n  for (int t = 0; t < 3; ++t) {\n    v = op(v, "
      "T(t));\n "
      " }\n  return v;\n}\n",
      kLines +
          "  Scaled<float> scaled = {2.0f};\n  float v = x[i];\n  v = folded(v, scaled);\n  y[i] "
          "= v;\n");
  CHECK(k.why.empty());
  CHECK(k.has("scaled.by"));
}

TEST_CASE("an operator of a new object, and an object that a call changes") {
  const Normal k(
      "struct Plus {\n  __device__ float operator()(float a, float b) const { return a + b; "
      "}\n};\nstruct Count {\n  float total;\n  __device__ void add(float v) {\n    total += v;\n  "
      "  "
      "total *= 0.5f;\n  }\n};\n",
      kLines +
          "  Count count;\n  count.total = Plus()(x[i], 1.0f);\n  count.add(x[n - 1 - i]);\n  "
          "y[i] = count.total;\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("Plus()"));
  CHECK(k.has("count.total += v"));
}

TEST_CASE("members whose names cannot stand in the kernel stay") {
  const std::string of = kLines + "  y[i] = S::of(x[i]);\n";
  CHECK(
      refused("struct S {\n  using T = float;\n  static __device__ float of(float v) {\n    T w = "
              "v;\n    w += 1;\n    return w;\n  }\n};\n",
              of) == "the class of of is not plain");
  CHECK(refused(
            "struct B {\n  static constexpr float k = 1;\n};\nstruct S : B {\n  static __device__ "
            "float of(float v) {\n    float w = v;\n    w += k;\n    return w;\n  }\n};\n",
            of) == "the class of of is not plain");
  CHECK(refused("struct S {\n  float w;\n  __device__ float of(float v) {\n    this->w = v;\n    "
                "w += 1;\n    return w;\n  }\n};\n",
                kLines + "  S s;\n  y[i] = s.of(x[i]);\n") == "of says this");
  CHECK(
      refused("struct S {\n  static __device__ float of(float v) {\n    float w = v;\n    if (w > "
              "2) w = S::of(w / 2);\n    return w;\n  }\n};\n",
              of) == "of calls itself");
  // a template and a specialisation of it: which is meant follows from types that are known
  const std::string special =
      "template <typename T>\nstruct S {\n  static __device__ float of(float v) {\n   "
      " float w = v;\n    w += 1;\n    return w;\n  }\n};\ntemplate <>\nstruct "
      "S<int> {\n  static __device__ float of(float v) {\n    float w = v;\n    w += "
      "2;\n    return w;\n  }\n};\n";
  CHECK_FALSE(refused(special, kLines + "  y[i] = S<real>::of(x[i]);\n").empty());
  CHECK(Normal(special, kLines + "  y[i] = S<int>::of(x[i]);\n").has("+= 2"));
  CHECK(Normal(special, kLines + "  y[i] = S<float>::of(x[i]);\n").has("+= 1"));
}

TEST_CASE("accesses in macros and in helpers of one return are written out") {
  const Normal k(
      "#define AT(r, c) x[(r) * 10 + (c)]\n__device__ float load(const float* p, int r, int c) { "
      "return p[r * 10 + c]; }\n",
      kLines + "  y[i] = AT(i / 10, i % 10) + load(x, i / 10, 9 - i % 10);\n");
  CHECK(k.why.empty());
  CHECK(k.has("x[(i / 10) * 10 + (i % 10)]"));
  CHECK_FALSE(k.has("load("));
}

TEST_CASE("a variable that is handed over and not read again is not copied") {
  const Normal k(
      "__device__ float grown(float v, int steps) {\n  for (int s = 0; s < steps; ++s) v = v * "
      "1.5f "
      "+ s;\n  return v;\n}\n",
      kLines +
          "  float a = x[i], b = x[n - 1 - i];\n  a = grown(a, 3);\n  float c = grown(b, 2);\n "
          " float d = a;\n  float e = grown(d, 2);\n  y[i] = a + c + d * e;\n");
  CHECK(k.why.empty());
  CHECK(k.has("a = a * 1.5f"));
  CHECK(k.has("b = b * 1.5f"));
  CHECK_FALSE(k.has("d = d * 1.5f"));  // is read again
  CHECK_FALSE(k.has("a = a;"));
}

TEST_CASE("a variable that the next iteration reads is copied") {
  const Normal k("__device__ float grown(float v) {\n  v += 1;\n  v *= 0.5f;\n  return v;\n}\n",
                 kLines +
                     "  float a = x[i], sum = 0;\n  for (int j = 0; j < 3; ++j) {\n    float b = "
                     "grown(a);\n    sum += b;\n  }\n  y[i] = sum;\n");
  CHECK(k.why.empty());
  CHECK(k.has("float v = a;"));
}

TEST_CASE("a loop whose variable nothing reads behind it has an index of its own") {
  const Normal k("", kLines +
                         "  int j, l = i % 7;\n  float sum = 0;\n  for (j = 0; j < 3; j++) sum "
                         "+= x[(i + j) % n];\n  for (j = 1; j < 4; j++) {\n    sum += x[j];\n  "
                         "}\n  while (l < 20) {\n    sum += x[l];\n    l += 5;\n  }\n  y[i] = "
                         "sum;\n");
  CHECK(k.why.empty());
  CHECK(k.has("for (int j = 0; j < 3; j++)"));
  CHECK(k.has("for (int j = 1; j < 4; j++)"));
  CHECK(k.has("for (int l_2 = l; l_2 < 20; l_2 += 5) {"));
  CHECK_FALSE(k.has("l += 5"));
}

TEST_CASE("a loop whose variable is read behind it keeps it") {
  const std::string sum = kLines + "  float sum = 0;\n", head = sum + "  int j;\n";
  CHECK(refused("", head + "  for (j = 0; j < 3; j++) sum += x[j];\n  y[i] = sum + j;\n") ==
        "j is used behind its loop");
  CHECK(refused("",
                sum +
                    "  int j = 0;\n  for (int r = 0; r < 2; r++) {\n    while (j < 3 * r) {\n      "
                    "sum += x[j];\n      j++;\n    }\n  }\n  y[i] = sum;\n") ==
        "j is used behind its loop");
  CHECK(refused("",
                sum + "  int j = i % 3;\n  while (j < 9) {\n    j += 2;\n    sum += x[j];\n  }\n  "
                      "y[i] = sum;\n") == "j steps before the end of its loop");
  CHECK(refused("#define NEXT x[j]\n",
                head + "  for (j = 0; j < 3; j++) sum += 1;\n  y[i] = sum;\n  if (sum < 0) y[i] = "
                       "NEXT;\n") == "j is more than the index of a loop");
}
