#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

/// A block sums a row of N elements of x, a thread B apart, and goes on with `body`, which has
/// t = threadIdx.x, the thread's `sum`, B threads and y[2 * blockIdx.x].
KernelSpec block_sum(const std::string& body,
                     int threads = 128,
                     const std::string& dtype = "float32",
                     const std::string& head = "") {
  const nlohmann::json few = {{"kind", "randint"}, {"low", -9}, {"high", 10}, {"seed", 1}},
                       real = {{"kind", "uniform"}, {"low", -1.0}, {"high", 1.0}, {"seed", 1}};
  const std::string type = dtype == "int32" ? "int" : "float";
  return test::kernel_under_test(
      head + "#define N 300\n#define B " + std::to_string(threads) +
          "\nextern \"C\" __global__ void reduce_rows(" + type + "* y, const " + type +
          "* x, int rows) {\n  int t = threadIdx.x;\n  " + type +
          " sum = 0;\n  for (int j = t; j < N; j += B) sum += x[blockIdx.x * N + j];\n" + body +
          "}\n",
      "reduce_rows",
      {{"y", "output", dtype, "rows * 2"},
       {"x", "input", dtype, "rows * 300", 0, dtype == "int32" ? few : real},
       {"rows", "scalar", "int32", "", 5}},
      "rows", std::to_string(threads), 1e-4);
}

const std::string kStore = "  __shared__ float part[B];\n  part[t] = sum;\n  __syncthreads();\n";
const std::string kFirst =
    "  if (t == 0) {\n    y[2 * blockIdx.x] = part[0];\n    y[2 * blockIdx.x + 1] = 0;\n  }\n";

/// Where the move applies; its results are run.
std::vector<std::string> applies(const KernelSpec& spec) {
  MovePath path(spec);
  path.on_gpu();
  const std::vector<std::string> steps = path.listed("warp_shuffle_reduce");
  INFO(path.tried("warp_shuffle_reduce"));
  REQUIRE_FALSE(steps.empty());
  for (const std::string& step : steps) {
    MovePath once(spec);
    once.on_gpu().step(step).runs();
    CHECK(once.has("__shfl_xor_sync"));
  }
  return steps;
}

std::string declined(const KernelSpec& spec) {
  MovePath path(spec);
  path.on_gpu();
  CHECK(path.listed("warp_shuffle_reduce").empty());
  return path.tried("warp_shuffle_reduce");
}

const std::string kUnknown =
    "no statements are known to combine a value of each thread of the block, and no more";

/// A block of 16 x 16 threads, two rows of blocks, goes on with `body`, which has the thread's
/// number t, its value v, shared part[256] and the place y[at] of its block.
KernelSpec square_sum(const std::string& body) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void reduce_tiles(float* y, const float* x, int n) {\n"
      "  __shared__ float part[256];\n  int t = threadIdx.y * blockDim.x + threadIdx.x;\n"
      "  int at = blockIdx.y * gridDim.x + blockIdx.x;\n  float v = x[at * 256 + t];\n" +
          body + "}\n",
      "reduce_tiles",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n * 256"},
       {"n", "scalar", "int32", "", 6}},
      "n / 2; 2", "16; 16", 1e-4);
}

}  // namespace

TEST_SUITE_BEGIN("block_reductions");

TEST_CASE("a tree over shared memory is known in whatever order it combines") {
  for (const std::string tree : {
           "  for (int s = B / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
           "__syncthreads();\n  }\n",
           "  int s = blockDim.x / 2;\n  while (s != 0) {\n    if (t < s) part[t] = part[t + s] + "
           "part[t];\n    __syncthreads();\n    s /= 2;\n  }\n",
           "  for (int s = 1; s < B; s *= 2) {\n    if (t % (2 * s) == 0) part[t] += part[t + "
           "s];\n    __syncthreads();\n  }\n",
           "  for (int s = 1; s < B; s *= 2) {\n    int k = 2 * s * t;\n    if (k < B) part[k] += "
           "part[k + s];\n    __syncthreads();\n  }\n",
           "  if (t < 64) part[t] += part[t + 64];\n  __syncthreads();\n  if (t < 32) part[t] += "
           "part[t + 32];\n  __syncthreads();\n  if (t == 0) {\n    for (int k = 1; k < 32; ++k) "
           "part[0] += part[k];\n  }\n  __syncthreads();\n",
           "  if (t < 64) part[t] += part[t + 64];\n  __syncthreads();\n  if (t < 32) {\n    float "
           "v = part[t] + part[t + 32];\n    for (int d = 16; d > 0; d >>= 1) v += "
           "__shfl_down_sync(0xffffffff, v, d);\n    if (t == 0) part[0] = v;\n  }\n",
       }) {
    CAPTURE(tree);
    CHECK(applies(block_sum(kStore + tree + kFirst)).size() == 1);
  }
}

TEST_CASE("where memory is volatile, the text counts on a warp's threads to advance together") {
  const std::string helper =
      "__device__ void last_warp(volatile float* v, int t) {\n  v[t] += v[t + 32];\n  v[t] += v[t "
      "+ 16];\n  v[t] += v[t + 8];\n  v[t] += v[t + 4];\n  v[t] += v[t + 2];\n  v[t] += v[t + "
      "1];\n}\n";
  const std::string half = kStore + "  if (t < 64) part[t] += part[t + 64];\n  __syncthreads();\n";
  // A host's threads do not advance together.
  const test::HostCheck check(block_sum(
      kStore + "  if (t == 0) {\n    for (int k = 1; k < B; ++k) part[0] += part[k];\n  }\n" +
      kFirst));
  for (const std::string last : {"last_warp(part, t)", "last_warp(&part[0], t)"}) {
    MovePath path(
        block_sum(half + "  if (t < 32) " + last + ";\n" + kFirst, 128, "float32", helper));
    path.on_gpu();
    const std::vector<std::string> steps = path.listed("warp_shuffle_reduce");
    REQUIRE(steps.size() == 1);
    check.passes(path.step(steps[0]).variant());
  }
}

TEST_CASE("extremes kept by comparisons, bits and several values at once are combined") {
  applies(
      block_sum("  __shared__ float most[B];\n  __shared__ float least[B];\n  most[t] = sum;\n"
                "  least[t] = sum;\n  __syncthreads();\n  for (int s = B / 2; s > 0; s /= 2) "
                "{\n    if (t < s) {\n      if (most[t] < most[t + s]) most[t] = most[t + "
                "s];\n      least[t] = least[t] > least[t + s] ? least[t + s] : least[t];\n  "
                "  }\n    __syncthreads();\n  }\n  y[2 * blockIdx.x] = most[0];\n  y[2 * "
                "blockIdx.x + 1] = least[0];\n"));
  for (const std::string op : {"+=", "^=", "|=", "&="}) {
    CAPTURE(op);
    applies(
        block_sum("  __shared__ int part[B];\n  part[t] = sum;\n  __syncthreads();\n  for "
                  "(int s = B / 2; s > 0; s /= 2) {\n    if (t < s) part[t] " +
                      op + " part[t + s];\n    __syncthreads();\n  }\n" + kFirst,
                  256, "int32"));
  }
  applies(
      block_sum("  __shared__ float pair[2 * B];\n  pair[2 * t] = sum;\n  pair[2 * t + 1] = "
                "sum * sum;\n  __syncthreads();\n  for (int s = B / 2; s > 0; s /= 2) {\n    "
                "if (t < s) {\n      pair[2 * t] += pair[2 * (t + s)];\n      pair[2 * t + 1] "
                "+= pair[2 * (t + s) + 1];\n    }\n    __syncthreads();\n  }\n  if (t == 0) "
                "{\n    y[2 * blockIdx.x] = pair[0];\n    y[2 * blockIdx.x + 1] = pair[1];\n "
                " }\n"));
}

TEST_CASE("shuffles in two steps need one barrier, and a helper may hold them") {
  const std::string helper =
      "__device__ float warp_sum(float v) {\n  for (int d = 16; d > 0; d /= 2) v += "
      "__shfl_down_sync(0xffffffff, v, d);\n  return v;\n}\n__device__ float block_sum_of(float "
      "v) {\n  __shared__ float sums[32];\n  int lane = threadIdx.x % 32, warp = threadIdx.x / "
      "32;\n  v = warp_sum(v);\n  __syncthreads();\n  if (lane == 0) sums[warp] = v;\n  "
      "__syncthreads();\n  v = threadIdx.x < blockDim.x / 32 ? sums[lane] : 0.0f;\n  if (warp == "
      "0) v = warp_sum(v);\n  return v;\n}\n";
  MovePath path(
      block_sum("  float total = block_sum_of(sum);\n  if (t == 0) {\n    y[2 * "
                "blockIdx.x] = total;\n    y[2 * blockIdx.x + 1] = sum;\n  }\n",
                128, "float32", helper));
  path.on_gpu();
  const std::vector<std::string> steps = path.listed("warp_shuffle_reduce");
  REQUIRE(steps.size() == 1);
  path.step(steps[0]).runs();
  CHECK(path.listed("warp_shuffle_reduce").empty());
}

TEST_CASE("what is used behind a reduction stays") {
  const std::string tree =
      "  for (int s = B / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
      "__syncthreads();\n  }\n";
  SUBCASE("by all threads") {
    applies(block_sum(kStore + tree +
                      "  float mean = part[0] / B;\n  __syncthreads();\n  part[t] = (sum - mean) * "
                      "(sum - mean);\n  __syncthreads();\n" +
                      tree + kFirst));
  }
  SUBCASE("in each iteration of a loop") {
    applies(
        block_sum("  __shared__ float part[B];\n  for (int r = 0; r < 2; ++r) {\n    part[t] = "
                  "sum * (r + 1);\n    __syncthreads();\n" +
                  tree +
                  "    if (t == 0) y[2 * blockIdx.x + r] = part[0];\n    "
                  "__syncthreads();\n  }\n"));
  }
  SUBCASE("under another name, or in a macro") {
    const std::string shuffles =
        "  float all = sum;\n  float& other = all;\n  __shared__ float part[B / 32];\n  for (int d "
        "= "
        "16; d > 0; d /= 2) all += __shfl_down_sync(0xffffffff, all, d);\n  if (t % 32 == 0) "
        "part[t "
        "/ 32] = all;\n  __syncthreads();\n  if (t < 32) {\n    all = t < B / 32 ? part[t] : "
        "0.0f;\n    for (int d = 16; d > 0; d /= 2) all += __shfl_down_sync(0xffffffff, all, d);\n "
        " }\n  __syncthreads();\n";
    CHECK(declined(block_sum(shuffles + "  y[2 * blockIdx.x + t % 2] = other;\n")) == kUnknown);
    CHECK(declined(block_sum(shuffles + "  y[2 * blockIdx.x + t % 2] = ALL;\n", 128, "float32",
                             "#define ALL (all + 0.0f)\n")) == kUnknown);
  }
  SUBCASE("parts of the sum are wanted, too") {
    CHECK(declined(block_sum(kStore + tree + "  if (t < 2) y[2 * blockIdx.x + t] = part[t];\n")) ==
          kUnknown);
  }
  SUBCASE("other threads go on with what they have") {
    CHECK(declined(block_sum(
              "  __shared__ float part[B / 32];\n  for (int d = 16; d > 0; d /= 2) sum += "
              "__shfl_down_sync(0xffffffff, sum, d);\n  if (t % 32 == 0) part[t / 32] = sum;\n  "
              "__syncthreads();\n  if (t < 32) {\n    sum = t < B / 32 ? part[t] : 0.0f;\n    for "
              "(int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);\n  }\n  "
              "__syncthreads();\n  if (t < 2) y[2 * blockIdx.x + t] = sum;\n")) == kUnknown);
  }
}

TEST_CASE("what combines in another way, or races, is no reduction") {
  for (const std::string body : {
           // of every other thread
           "  for (int s = B / 2; s > 1; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
           "__syncthreads();\n  }\n",
           // some of them twice
           "  for (int s = B / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
           "__syncthreads();\n  }\n  if (t == 0) part[0] += part[1];\n  __syncthreads();\n",
           // differences depend on the order
           "  for (int s = B / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] -= part[t + s];\n    "
           "__syncthreads();\n  }\n",
           // two operators
           "  for (int s = B / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] = s > 8 ? part[t] + "
           "part[t + s] : fmaxf(part[t], part[t + s]);\n    __syncthreads();\n  }\n",
           // no barrier between the steps
           "  for (int s = B / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n  }\n"
           "  __syncthreads();\n",
           // a warp's threads are not known to advance together
           "  if (t < 64) part[t] += part[t + 64];\n  __syncthreads();\n  if (t < 32) {\n    for "
           "(int s = 32; s > 0; s >>= 1) part[t] += part[t + s];\n  }\n  __syncthreads();\n",
       }) {
    CAPTURE(body);
    CHECK_FALSE(declined(block_sum(kStore + body + kFirst)).empty());
  }
}

TEST_CASE("barriers that not all threads reach, and blocks of another shape, are left alone") {
  const std::string tree =
      "  for (int s = B / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
      "__syncthreads();\n  }\n";
  CHECK(declined(block_sum("  if (sum > 0.5f && t > 3) return;\n" + kStore + tree + kFirst)) ==
        kUnknown);
  CHECK(declined(block_sum(kStore + tree + kFirst, 80)) ==
        "the block is not known to be made of whole warps");
}

TEST_CASE("three warps have no power of two, and a tree may take the first threads alone") {
  const std::string odd =
      "  for (int s = 48; s > 2; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
      "__syncthreads();\n  }\n  if (t == 0) part[0] += part[1] + part[2];\n";
  CHECK(applies(block_sum(kStore + odd + kFirst, 96)).size() == 1);
  const std::string half =
      "  for (int s = B / 4; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
      "__syncthreads();\n  }\n";
  CHECK(applies(block_sum(kStore + half + kFirst)).size() == 1);
  CHECK(applies(block_sum("  __shared__ float part[B];\n  if (t < 70) part[t] = sum;\n  "
                          "__syncthreads();\n  for (int s = 64; s > 0; s >>= 1) {\n    if (t < s "
                          "&& t + s < 70) part[t] = fmaxf(part[t], part[t + s]);\n    "
                          "__syncthreads();\n  }\n" +
                          kFirst))
            .size() == 1);
}

TEST_CASE("a block of several axes is a row of threads") {
  const std::string tree =
      "  part[t] = v;\n  __syncthreads();\n  for (int s = 128; s > 0; s >>= 1) {\n    if (t < s) "
      "part[t] += part[t + s];\n    __syncthreads();\n  }\n";
  applies(square_sum(tree + "  if (t == 0) y[at] = part[0];\n"));
  applies(square_sum(tree + "  if (threadIdx.x == 0 && threadIdx.y == 0) y[at] = part[0];\n"));
  // the result stays in shared memory
  applies(square_sum(tree + "  float* const first = part;\n  if (t == 9) y[at] = *first;\n"));
  // along one axis alone: each row has its own sum
  CHECK(declined(square_sum(
            "  part[t] = v;\n  __syncthreads();\n  for (int s = 8; s > 0; s >>= 1) {\n    if "
            "(threadIdx.x < s) part[t] += part[t + s];\n    __syncthreads();\n  }\n  if (t == 0) "
            "y[at] = part[0] + part[16];\n")) == kUnknown);
}

TEST_CASE("which row of blocks it is may decide what is combined") {
  const std::string tree =
      "  __syncthreads();\n  for (int s = 128; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t "
      "+ s];\n    __syncthreads();\n  }\n  if (t == 0) y[at] = part[0];\n";
  applies(square_sum("  part[t] = blockIdx.y == 0 ? v : 0.0f;\n" + tree));
}

TEST_CASE("dynamic shared memory is one array, of whatever type its bytes are taken for") {
  const auto dynamic = [](const std::string& memory, const std::string& part,
                          const std::string& behind = "") {
    return block_sum(
        memory +
        "  part[t] = sum;\n  __syncthreads();\n  for (int s = B / 2; s > 0; s >>= 1) {\n "
        "   if (t < s) part[t] += " +
        part + "[t + s];\n    __syncthreads();\n  }\n" + kFirst + behind);
  };
  const std::string bytes = "  extern __shared__ unsigned char raw[];\n",
                    view = "  float* part = reinterpret_cast<float*>(raw);\n";
  for (const std::string& memory : {std::string("  extern __shared__ float part[];\n"),
                                    bytes + view, bytes + "  float* const part = (float*)raw;\n"}) {
    CAPTURE(memory);
    MovePath path(dynamic(memory, "part"));
    CHECK(path.on_gpu().listed("warp_shuffle_reduce").size() == 1);
  }
  // the same bytes as something else, and an offset in bytes
  CHECK(declined(dynamic(bytes + view, "part",
                         "  if (t == 1) y[2 * blockIdx.x + 1] = raw[0];\n")) == kUnknown);
  CHECK(declined(dynamic(bytes + view + "  int* other = reinterpret_cast<int*>(raw);\n",
                         "other")) == kUnknown);
  CHECK(declined(dynamic(bytes + "  float* part = reinterpret_cast<float*>(raw + 512);\n",
                         "part")) == kUnknown);
}

TEST_SUITE_END();
