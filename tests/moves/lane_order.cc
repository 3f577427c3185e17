#include <doctest/doctest.h>

#include <string>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// What a kernel relies on of its threads without saying so.
TEST_SUITE_BEGIN("lane_order");

namespace {

/// A block a row of C elements.
MovePath of_rows(const std::string& body, const std::string& before = "") {
  return MovePath(
      test::kernel_under_test(before +
                                  "__global__ void rows(float* __restrict__ y, const float* "
                                  "__restrict__ x, int C) {\nint row = blockIdx.x;\n" +
                                  body + "}\n",
                              "rows",
                              {{"y", "output", "float32", "7 * C"},
                               {"x", "input", "float32", "7 * C"},
                               {"C", "scalar", "", "", 200}},
                              "7", "64"));
}

const std::string kEach = "for (int c = threadIdx.x; c < C; c += blockDim.x) ";
constexpr char kPacked[] = "vectorize_global_loads@loop:1(width=4)";

}  // namespace

TEST_CASE("lanes do not swap elements that another loop left them, unless a barrier is between") {
  const auto kernel = [](const std::string& between, const std::string& behind) {
    return of_rows("__shared__ float keep[200];\n" +
                   (kEach + ("keep[c] = x[row * C + c];\n" + between)) + kEach +
                   "y[row * C + c] = 2.0f * keep[c];\n" + behind);
  };
  CHECK(kernel("", "").tried(kPacked) ==
        "no barrier keeps the loop apart from what threads do with keep elsewhere");
  CHECK(kernel("__syncwarp();\n", "").tried(kPacked) != "");
  CHECK(kernel("for (int r = 0; r < C; ++r) __syncthreads();\n", "").tried(kPacked) != "");
  CHECK(kernel("if (C > 1) __syncthreads();\n", "").tried(kPacked) != "");
  kernel("__syncthreads();\n", "").step(kPacked).runs();
  // what follows changes what is read, or may
  CHECK(kernel("__syncthreads();\n", "keep[threadIdx.x] = 0;\n").tried(kPacked) != "");
  kernel("__syncthreads();\n", "__syncthreads();\nkeep[threadIdx.x] = 0;\n").step(kPacked).runs();
}

TEST_CASE("where a loop is around both, a barrier is also between its iterations") {
  const auto kernel = [](const std::string& behind) {
    return of_rows(
        "__shared__ float keep[200];\nfor (int r = blockIdx.x; r < 7; r += gridDim.x) {\n  " +
        (kEach +
         ("keep[c] = x[r * C + c];\n  __syncthreads();\n  " +
          (kEach + ("y[r * C + c] = 2.0f * keep[c];\n" + behind))) +
         "}\n"));
  };
  CHECK(kernel("").tried("vectorize_global_loads@loop:2(width=4)") != "");
  kernel("  __syncthreads();\n").step("vectorize_global_loads@loop:2(width=4)").runs();
}

TEST_CASE("a condition around a loop reads before it, that of a loop also behind it") {
  const auto kernel = [](const std::string& head, const std::string& before,
                         const std::string& behind) {
    return of_rows("__shared__ float keep[200];\n" + kEach + "keep[c] = x[row * C + c];\n" +
                   "__syncthreads();\n" + head + " {\n" + before + kEach +
                   "keep[c] = y[row * C + c] = 1.0f;\n" + behind + "}\n");
  };
  const std::string once = "if (keep[0] > 0)", often = "while (keep[0] > 0)",
                    join = "__syncthreads();\n";
  const std::string unordered =
      "no barrier keeps the loop apart from what threads do with keep elsewhere";
  const auto says = [&](const std::string& head, const std::string& before,
                        const std::string& behind) {
    const std::string site = head == often ? "loop:2" : "loop:1";
    return kernel(head, before, behind).tried("vectorize_global_loads@" + site + "(width=4)") ==
           unordered;
  };
  CHECK(says(once, "", ""));
  CHECK(says(often, "", ""));
  CHECK(says(often, join, ""));
  CHECK_FALSE(says(once, join, ""));
  CHECK_FALSE(says(often, join, join));
}

TEST_CASE("an index that takes a variable's place within an argument of a macro is in brackets") {
  MovePath path = of_rows((kEach + std::string("y[row * C + c] = x[row * C + HALF(c, 1)];\n")),
                          "#define HALF(a, n) (a * n / 2)\n");
  path.step("vectorize_global_loads@loop:0(width=4)").runs();
  CAPTURE(path.source());
  CHECK(path.has("HALF((c + "));
}

TEST_CASE("an end below 0 stays below what an unsigned stride makes of an index") {
  const auto kernel = [](const std::string& end) {
    return of_rows("int end = " + end + ";\n" +
                   (kEach + ("y[row * C + c] = 0.0f;\nfor (int c = threadIdx.x; c < end; c += "
                             "blockDim.x) y[row * C + c] = x[row * C + c];\n")));
  };
  for (const char* const tail : {"0", "1"}) {
    const std::string step = "unroll_ilp@loop:1(factor=2,tail=" + std::string(tail) + ")";
    MovePath path = kernel("C - 300");
    path.step(step).runs();
    CHECK(path.has(" * static_cast<int>(blockDim.x) < end"));
    CHECK_FALSE(kernel("C").step(step).has("cast"));
  }
}

TEST_CASE("a block does not change where an array keeps how many threads there are") {
  const auto kernel = [](const std::string& far) {
    return of_rows(
        "int far[2];\nfor (int u = 0; u < 2; ++u) far[u] = " + far +
        ";\nfor (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 7 * C; i += gridDim.x * "
        "blockDim.x) y[i] = x[min(i + far[1], 7 * C - 1)];\n");
  };
  CHECK_FALSE(kernel("u * C").listed("change_block_sizes").empty());
  CHECK(kernel("u * gridDim.x * blockDim.x").listed("change_block_sizes").empty());
}

TEST_SUITE_END();
