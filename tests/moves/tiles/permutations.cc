#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// Kernels of one flat index that load in one order of its coordinates and store in another: run
// against the kernel as it was.
TEST_SUITE_BEGIN("permutations");

namespace {

const std::string kStep = "smem_tile_stage@exchange(rows=8,tile=32)";
const std::string kPlaces =
    "    int w = i % W;\n    int h = (i / W) % H;\n    int c = (i / (W * H)) % C;\n    int n = i / "
    "(W * H * C);\n";
const std::string kChannelsLast = "((n * H + h) * W + w) * C + c";

/// out[N, C, H, W] of in[N, H, W, C] and b[N * C * H * W], or any other order.
KernelSpec permutation(const std::string& body,
                       const std::string& head = "int i = blockIdx.x * blockDim.x + threadIdx.x;",
                       const std::string& guard = "if (i < N * C * H * W)",
                       const std::string& type = "float") {
  return test::kernel_under_test("extern \"C\" __global__ void __launch_bounds__(64) k(" + type +
                                     "* out, const " + type +
                                     "* in, const float* b, int N, int C, int H, int W) {\n  " +
                                     head + "\n  " + guard + " {\n" + body + "  }\n}\n",
                                 "k",
                                 {{"out", "output", "float32", "N * C * H * W"},
                                  {"in", "input", "float32", "N * C * H * W"},
                                  {"b", "input", "float32", "N * C * H * W"},
                                  {"N", "scalar", "", "", 3},
                                  {"C", "scalar", "", "", 40},
                                  {"H", "scalar", "", "", 5},
                                  {"W", "scalar", "", "", 9}},
                                 "ceil_div(N * C * H * W, 64)", "64", 1e-6);
}

}  // namespace

TEST_CASE("channels are moved in front of the image and behind it through a tile") {
  MovePath front(permutation(kPlaces + "    out[i] = in[" + kChannelsLast + "];\n"));
  front.step(kStep);
  CHECK(front.has("__shared__ float tile[TILE][TILE + 1];"));
  CHECK(front.has("__launch_bounds__(256)"));
  // h and w are neighbours in both orders: one coordinate of 45; nothing is divided an element
  CHECK(front.has("if (along_in < 40 && along_out < 45)"));
  CHECK_FALSE(front.has("i / "));
  CHECK(front.variant().launch.grid[2].text() == "3");
  front.runs();
  MovePath back(permutation(kPlaces + "    out[" + kChannelsLast + "] = in[i];\n"));
  back.step(kStep).runs();
  CHECK(back.has("if (along_in < 45 && along_out < 40)"));
  MovePath(permutation(kPlaces + "    out[" + kChannelsLast + "] = in[i];\n"))
      .step("smem_tile_stage@exchange(rows=4,tile=16)")
      .runs();
}

TEST_CASE("what a point does with the element it still does, by coordinates and by what divides") {
  MovePath path(permutation(kPlaces + "    float v = in[" + kChannelsLast +
                            "] + b[c];\n    if (h > 2) v = v * 2.0f;\n    v += b[i];\n    out[i] = "
                            "v > 0.0f ? v : 0.25f * v;\n"));
  path.step(kStep).runs();
  CHECK(path.has("tile[threadIdx.x][r] + b[c]"));
}

TEST_CASE("other orders, unsigned and 64-bit indices, an early return, a loop over the grid") {
  // heads of attention: (n, c, h, w) to (n, w, h, c), nothing grouped
  MovePath(permutation(kPlaces + "    out[((n * W + w) * H + h) * C + c] = in[i];\n"))
      .step(kStep)
      .runs();
  // a matrix, by subtraction
  MovePath(
      permutation("    int row = i / C, rest = i - row * C;\n    out[rest * (N * H * W) + row] "
                  "= __ldg(&in[i]);\n"))
      .step(kStep)
      .runs();
  MovePath(permutation("    long long row = i / C, at = i % C;\n    out[at * (N * H * W) + row] = "
                       "in[i];\n",
                       "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;"))
      .step(kStep)
      .runs();
  MovePath(permutation(kPlaces + "    out[i] = in[" + kChannelsLast + "];\n",
                       "unsigned i = blockIdx.x * blockDim.x + threadIdx.x;"))
      .step(kStep)
      .runs();
  MovePath(permutation(kPlaces + "    out[i] = in[" + kChannelsLast + "];\n",
                       "int i = blockIdx.x * blockDim.x + threadIdx.x;",
                       "if (i >= N * C * H * W) return;"))
      .step(kStep)
      .runs();
  MovePath(permutation(kPlaces + "    out[i] = in[" + kChannelsLast + "];\n", "",
                       "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N * C * H * W; i "
                       "+= gridDim.x * blockDim.x)"))
      .step(kStep)
      .runs();
}

TEST_CASE("a permutation whose points a tile would not cover as its kernel does is left alone") {
  const auto why = [](const KernelSpec& spec) { return MovePath(spec).tried(kStep); };
  const std::string store = "    out[i] = in[" + kChannelsLast + "];\n";
  const std::string index = "int i = blockIdx.x * blockDim.x + threadIdx.x;";
  const auto of = [&](const std::string& body) { return why(permutation(kPlaces + body)); };
  CHECK(of(store) == "");
  CHECK(of("    out[i] = in[i];\n") != "");                               // one order
  CHECK(of("    out[i] = in[" + kChannelsLast + "] + out[0];\n") != "");  // read and written
  CHECK(of(store + "    out[i] = 0.0f;\n") != "");                        // two stores
  CHECK(of("    atomicAdd(&out[i], in[" + kChannelsLast + "]);\n") != "");
  CHECK(of("    if (c > 3) out[i] = in[" + kChannelsLast + "];\n") != "");        // not all store
  CHECK(of("    out[i] = c > 3 ? in[" + kChannelsLast + "] : 0.0f;\n") != "");    // not all load
  CHECK(of("    out[c * 45 + h * 9 + w] = in[" + kChannelsLast + "];\n") != "");  // not injective
  CHECK(of("    out[i] = in[" + kChannelsLast + "] + threadIdx.x;\n") != "");
  CHECK(of("    out[i] = in[(int)b[i] + c];\n") != "");                      // as data says
  CHECK(of("    i += 1;\n" + store) != "");                                  // the index changes
  CHECK(of("    out[(i - 40) / 45] = in[" + kChannelsLast + "];\n") != "");  // negative quotient
  CHECK(of("    out[N * C * H * W - 1 - i] = in[" + kChannelsLast + "];\n") != "");  // descends
  // the guard is no product of the extents, or tests more
  CHECK(why(permutation(kPlaces + store, index, "if (i < N * C * H * W - 7)")) != "");
  CHECK(why(permutation(kPlaces + store, index, "if (i < N * C * H * W && b[0] > 0.0f)")) != "");
  CHECK(why(permutation(kPlaces + store, index, "if (i < N * C * H * W)", "volatile float")) != "");
  CHECK(why(permutation(kPlaces + store + "    (void)i;\n",
                        "auto i = blockIdx.x * blockDim.x + threadIdx.x;")) != "");
  // more blocks side by side than the launch has threads
  CHECK(why(permutation(kPlaces + store, "int i = blockIdx.x * 32 + threadIdx.x;")) != "");
}

TEST_SUITE_END();
