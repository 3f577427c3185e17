#include "engine/text/one_kernel.h"

#include <doctest/doctest.h>

#include <algorithm>

using warpath::without_other_kernels;

TEST_SUITE_BEGIN("one_kernel");

TEST_CASE("the bodies of other kernels are left out and lines keep their numbers") {
  const std::string source =
      "__device__ float twice(float v) { return 2 * v; }\n"
      "extern \"C\" __global__ void first(float* y) {\n"
      "  y[0] = 1;\n"
      "}\n"
      "__global__ void __launch_bounds__(256) second(float* y, int n)\n"
      "{\n"
      "  if (n > 0) { y[1] = twice(2); }\n"
      "}  // done\n"
      "template <typename T, int N = (3 > 2)>\n"
      "static __global__ __launch_bounds__(128, 2) void third(T* y) { y[2] = N; }\n";
  CHECK(without_other_kernels(source, {"second"}) ==
        "__device__ float twice(float v) { return 2 * v; }\n"
        "extern \"C\" __global__ void first(float* y) ;\n"
        "\n"
        "\n"
        "__global__ void __launch_bounds__(256) second(float* y, int n)\n"
        "{\n"
        "  if (n > 0) { y[1] = twice(2); }\n"
        "}  // done\n"
        "template <typename T, int N = (3 > 2)>\n"
        "static __global__ __launch_bounds__(128, 2) void third(T* y) ;\n");
  const std::string third = without_other_kernels(source, {"third<float, 4>"});
  CHECK(third.find("y[0] = 1") == std::string::npos);
  CHECK(third.find("y[1] = twice(2)") == std::string::npos);
  CHECK(third.find("y[2] = N") != std::string::npos);
  CHECK(std::ranges::count(third, '\n') == std::ranges::count(source, '\n'));
}

TEST_CASE(
    "every kernel that is launched stays, whatever its namespace, and so does a text with one "
    "kernel") {
  const std::string source =
      "namespace a { __global__ void k(float* y) { y[0] = 1; } }\n"
      "namespace { __global__ void k(int* y) { y[0] = 2; } __global__ void step(int* y) { y[0] = "
      "3; } __global__ void other(int* y) { y[0] = 4; } }\n";
  const std::string kept = without_other_kernels(source, {"a::k", "step"});
  for (const char* body : {"= 1", "= 2", "= 3"}) CHECK(kept.find(body) != std::string::npos);
  CHECK(kept.find("= 4") == std::string::npos);
  const std::string one =
      "/* __global__ void k() {} */ __global__ void k(float* y) { y[0] = 1; }  // __global__\n";
  CHECK(without_other_kernels(one, {"k"}) == one);
}

TEST_CASE(
    "preprocessor lines of a body that is left out stay, for the text behind may need them; "
    "pragmas go") {
  const std::string source =
      "__global__ void other(float* y) {\n"
      "#define WIDTH 8\n"
      "#pragma unroll\n"
      "  for (int i = 0; i < WIDTH; ++i) {\n"
      "#if WIDTH > 4\n"
      "    y[i] = 1;\n"
      "#endif\n"
      "  }\n"
      "}\n"
      "__global__ void k(float* y) { y[0] = WIDTH; }\n";
  CHECK(without_other_kernels(source, {"k"}) ==
        "__global__ void other(float* y) ;\n"
        "#define WIDTH 8\n"
        "\n"
        "\n"
        "#if WIDTH > 4\n"
        "\n"
        "#endif\n"
        "\n"
        "\n"
        "__global__ void k(float* y) { y[0] = WIDTH; }\n");
}

TEST_CASE("explicit instantiations of kernels go, those of other templates stay") {
  const std::string source =
      "template <int N> __device__ int helper() { return N; }\n"
      "template int helper<3>();\n"
      "template <typename T> __global__ void other(T* y) { y[0] = 1; }\n"
      "template __global__ void other<float>(float*);\n"
      "template <typename T> __global__ void k(T* y) { y[0] = 2; }\n"
      "template __global__ void k<double>(double*);\n"
      "template <> __global__ void other<int>(int* y) { y[0] = 3; }\n";
  const std::string kept = without_other_kernels(source, {"k<float>"});
  CHECK(kept ==
        "template <int N> __device__ int helper() { return N; }\n"
        "template int helper<3>();\n"
        "template <typename T> __global__ void other(T* y) ;\n"
        "\n"
        "template <typename T> __global__ void k(T* y) { y[0] = 2; }\n"
        "\n"
        "template <> __global__ void other<int>(int* y) ;\n");
}

TEST_CASE("what the text alone does not tell stays as it is") {
  for (const std::string source :
       {// A macro makes the name, the head or the whole kernel.
        "#define NAME k\n__global__ void NAME(float* y) { y[0] = 1; }\n__global__ void "
        "other(float* y) { y[0] = 2; }\n",
        "#define KERNEL(n) __global__ void n(float* y) { y[0] = 1; }\nKERNEL(k)\n__global__ void "
        "other(float* y) { y[0] = 2; }\n",
        // The wanted kernel is not there.
        "__global__ void a(float* y) { y[0] = 1; }\n__global__ void b(float* y) { y[0] = 2; }\n",
        // A condition cuts the head, or the body, of every other kernel in two.
        "__global__ void k(float* y) { y[0] = 1; }\n#ifdef A\n__global__ void other(float* y) "
        "{\n#else\n__global__ void other(float* y, int n) {\n#endif\n  y[0] = 2;\n}\n",
        "__global__ void k(float* y) { y[0] = 1; }\n__global__ void other(float* y) {\n#ifdef A\n  "
        "for (;;) {\n#else\n  {\n#endif\n  y[0] = 2;\n  }\n}\n",
        // A name made by a macro with arguments.
        "#define N(x) k##x\n__global__ void k(float* y) { y[0] = 1; }\n__global__ void N(1)(float* "
        "y) { y[0] = 2; }\n",
        // Compilers disagree on the tokens.
        "__global__ void k(float* y) { y[0] = 1; }\n__global__ void other(float* y) { y[0] = 2; "
        "}\n/* open"}) {
    CAPTURE(source);
    CHECK(without_other_kernels(source, {"k"}) == source);
  }
}

TEST_SUITE_END();
