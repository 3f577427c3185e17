#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

const std::string kTree =
    "  __syncthreads();\n  for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n    if (tid < s) "
    "part[tid] "
    "+= part[tid + s];\n    __syncthreads();\n  }\n";

/// A block has a row of C elements of x; `body` has row, tid, and y of the same shape.
KernelSpec block_row(const std::string& body, const std::string& head = "") {
  return test::kernel_under_test(
      head +
          "extern \"C\" __global__ void row_kernel(float* y, const float* x, int rows, int C) {\n  "
          "__shared__ float part[128];\n  int row = blockIdx.x, tid = threadIdx.x;\n" +
          body + "}\n",
      "row_kernel",
      {{"y", "output", "float32", "rows * C"},
       {"x", "input", "float32", "rows * C"},
       {"rows", "scalar", "int32", "", 6},
       {"C", "scalar", "int32", "", 301}},
      "rows", "128", 1e-4);
}

std::string split(int lanes) {
  return "parallelise_row_loop(cluster=1,lanes=" + std::to_string(lanes) + ")";
}

const std::string kSum =
    "  float sum = 0.0f;\n  for (int j = tid; j < C; j += blockDim.x) sum += x[row * C + j];\n";
const std::string kScale =
    "  for (int j = tid; j < C; j += blockDim.x) y[row * C + j] = x[row * C + j] - ";

const std::string kSoftmax = R"(  float most = -INFINITY;
  for (int j = tid; j < C; j += blockDim.x) most = fmaxf(most, x[row * C + j]);
  part[tid] = most;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) part[tid] = fmaxf(part[tid], part[tid + s]);
    __syncthreads();
  }
  most = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int j = tid; j < C; j += blockDim.x) sum += expf(x[row * C + j] - most);
  part[tid] = sum;
)" + kTree + R"(  sum = part[0];
  for (int j = tid; j < C; j += blockDim.x) y[row * C + j] = expf(x[row * C + j] - most) / sum;
)";

}  // namespace

TEST_SUITE_BEGIN("block_rows");

TEST_CASE("other numbers of lanes share the rows that blocks had") {
  for (const std::string& body :
       {kSoftmax, kSum + "  part[tid] = sum;\n" + kTree + kScale + "part[0] / C;\n",
        kSum + "  part[tid] = sum;\n" + kTree +
            "  if (tid == 0) y[row * C] = part[0];\n  for (int j = tid; j < C; j += blockDim.x) "
            "{\n "
            "   if (j > 0) y[row * C + j] = part[0] * j;\n  }\n"}) {
    CAPTURE(body);
    for (const int lanes : {8, 32, 64, 512}) {
      CAPTURE(lanes);
      MovePath path(block_row(body));
      path.on_gpu().step(split(lanes)).runs();
      CHECK_FALSE(path.has("part["));
    }
  }
}

TEST_CASE("what is written goes on through other moves, and they through it") {
  MovePath path(block_row(kSoftmax));
  path.on_gpu().step(split(32));
  REQUIRE_FALSE(path.listed("softmax_math_fusion").empty());
  MovePath fused = path;
  fused.step(path.listed("softmax_math_fusion").front()).runs();
  MovePath shuffled(block_row(kSoftmax));
  shuffled.on_gpu();
  for (std::vector<std::string> steps = shuffled.listed("warp_shuffle_reduce"); !steps.empty();
       steps = shuffled.listed("warp_shuffle_reduce"))
    shuffled.step(steps.front());
  shuffled.step(split(16)).runs();
}

TEST_CASE("where the block's threads matter otherwise, its rows stay as they are") {
  const auto refused = [](const std::string& body) {
    MovePath path(block_row(body));
    path.on_gpu();
    CHECK(path.listed("parallelise_row_loop").empty());
    return path.tried(split(32));
  };
  const std::string tree = "  part[tid] = sum;\n" + kTree;
  // each thread starts from a value
  CHECK(refused("  float sum = 1.0f;\n  for (int j = tid; j < C; j += blockDim.x) sum += x[row * C "
                "+ j];\n" +
                tree + kScale + "part[0];\n") == "line 5: sum starts from a value in each thread");
  // a thread's part of the sum is used
  CHECK(refused(kSum + tree + "  y[row * C + tid] = sum;\n" + kScale + "part[0];\n") ==
        "line 12: threads do different things outside of loops");
  // the number of threads is
  CHECK(refused(kSum + tree + kScale + "part[0] / blockDim.x;\n") ==
        "line 12: threads are told apart in a loop");
  // one thread goes through a share of the row
  CHECK(refused(kSum + tree +
                "  if (tid == 0) {\n    for (int j = tid; j < C; j += blockDim.x) y[row * C + j] = "
                "part[0];\n  }\n") == "line 13: one thread does its share of a loop alone");
  // what one thread sets, others do not know
  CHECK(refused(kSum + tree + "  float v = 0.0f;\n  if (tid == 0) v = part[0];\n" + kScale +
                "v;\n") == "line 13: v is set by one thread");
  // values of the threads that are more than parts of a sum
  CHECK(refused("  float sum = x[row * C + tid];\n" + tree + "  y[row * C + tid] = part[0];\n") ==
        "line 11: threads do different things outside of loops");
  // sums of sums: the second loop goes on from the first one's total
  CHECK(refused(kSum + tree +
                "  sum = part[0];\n  __syncthreads();\n  for (int j = tid; j < C; j "
                "+= blockDim.x) sum += x[row * C + j];\n" +
                tree + kScale + "part[0];\n") == "line 14: sum starts from a value in each thread");
  // warps take different parts
  CHECK(refused(kSum + tree +
                "  for (int j = tid % 32; j < C; j += 32) y[row * C + j] = part[0];\n") ==
        "line 12: a loop that threads run differently");
}

TEST_CASE("values that threads have before the block combines them are summed in a loop") {
  const std::string tree = "  part[tid] = v;\n" + kTree, own = "  float v = x[row * C + tid];\n";
  const std::string first = kScale + "part[0];\n";
  for (const std::string& body :
       {own + tree + first, "  part[tid] = x[row * C + tid];\n" + kTree + first,
        "  constexpr int W = 100;\n  float v = tid < W ? x[row * C + tid] : 0.0f;\n" + tree + first,
        "  unsigned int at = blockIdx.x * C + blockDim.x + threadIdx.x;\n  part[tid] = "
        "x[at - blockDim.x] + (tid + blockDim.x < C ? x[at] : 0.0f);\n" +
            kTree + first,
        "  float v = 0.0f;\n  if (tid < C - 200) v = x[row * C + tid];\n  if (tid % 2 == 1) v *= "
        "2.0f;\n" +
            tree + first,
        "  float v = 0.0f;\n  for (int k = 0; k < 2; ++k) {\n    float w = x[row * C + tid + 128 * "
        "k];\n    v += w * w;\n  }\n" +
            tree + "  float scale = rsqrtf(part[0] / C);\n" +
            "  for (int j = tid; j < C; j += blockDim.x) y[row * C + j] = x[row * C + j] * "
            "scale;\n",
        // twice, the second time with what the first has left
        own + tree +
            "  float mean = part[0] / 128;\n  __syncthreads();\n  float d = x[row * C + tid] "
            "- mean;\n  part[tid] = d * d;\n" +
            kTree + kScale + "part[0] * mean;\n"}) {
    CAPTURE(body);
    for (const int lanes : {4, 32, 128}) {
      CAPTURE(lanes);
      MovePath path(block_row(body));
      path.on_gpu().step(split(lanes)).runs();
      CHECK_FALSE(path.has("part["));
    }
  }
  const auto refused = [](const std::string& body) {
    MovePath path(block_row(body));
    path.on_gpu();
    CHECK(path.listed("parallelise_row_loop").empty());
    return !path.tried(split(32)).empty();
  };
  // the value is used again, or is loaded from what the kernel stores
  CHECK(refused(own + tree + "  y[row * C + tid] = v - part[0];\n"));
  CHECK(refused("  float v = y[row * C + tid];\n" + tree + first));
  // a neighbour's element, the number of blocks, an order among the threads
  CHECK(refused("  part[127 - tid] = x[row * C + tid];\n" + kTree + first));
  CHECK(refused("  float v = x[row * C + tid] / gridDim.x;\n" + tree + first));
  CHECK(refused("  float v = x[row * C + tid];\n  v *= __shfl_xor_sync(0xffffffffu, v, 1);\n" +
                tree + first));
  // what the value is made of is not the same when the block combines it
  CHECK(refused("  int at = 3;\n" + std::string("  float v = x[row * C + tid + at];\n  at = 5;\n") +
                tree + kScale + "part[0] * at;\n"));
  // a number that came from what the block has combined since
  CHECK(refused("  float v = x[row * C + tid];\n  int at = (int)v + tid;\n" + tree +
                "  __syncthreads();\n  float w = x[row * C + at];\n  part[tid] = w;\n" + kTree +
                first));
  // a number that is set again is no number of the thread any more
  CHECK(refused("  int at = tid;\n  if (row > 2) at = 2 * tid;\n  float v = x[row * C + at];\n" +
                tree + "  for (int j = at; j < C; j += blockDim.x) y[row * C + j] = part[0];\n"));
}

TEST_CASE("macros and helpers that ask for the thread are no common values") {
  for (const char* const head : {"#define PART (x[row * C + threadIdx.x])\n",
                                 "#define PART part_of(x)\n__device__ int at() { "
                                 "return threadIdx.x; }\n__device__ float "
                                 "part_of(const float* x) { return x[at()]; }\n",
                                 "#define PART (sum * 0.5f)\n"}) {
    CAPTURE(head);
    MovePath path(
        block_row(kSum + "  part[tid] = sum;\n" + kTree + kScale + "part[0] + PART;\n", head));
    path.on_gpu();
    CHECK(path.listed("parallelise_row_loop").empty());
  }
}

TEST_CASE("the launch's shared memory goes with the sums that were all it held") {
  const auto spec = [](const std::string& last) {
    KernelSpec out = test::kernel_under_test(
        "extern \"C\" __global__ void row_kernel(float* y, const float* x, int rows, int C) {\n  "
        "extern __shared__ float part[];\n  int row = blockIdx.x, tid = threadIdx.x;\n" +
            kSum + "  part[tid] = sum;\n" + kTree + last + "}\n",
        "row_kernel",
        {{"y", "output", "float32", "rows"},
         {"x", "input", "float32", "rows * C"},
         {"rows", "scalar", "int32", "", 6},
         {"C", "scalar", "int32", "", 301}},
        "rows", "128", 1e-4);
    out.io.launch.dynamic_smem_bytes = Expression(512);
    std::get<ReferenceKernel>(out.reference).launch = out.io.launch;
    return out;
  };
  for (const int lanes : {4, 32, 256}) {
    MovePath path(spec("  if (tid == 0) y[row] = part[0];\n"));
    path.step(split(lanes)).runs();
    CHECK(path.variant().launch.dynamic_smem_bytes == Expression(0));
    CHECK_FALSE(path.has("part["));
  }
  // What it holds besides is not in the registers of a lane.
  CHECK_FALSE(
      MovePath(spec("  if (tid == 0) y[row] = part[0] + part[5];\n")).tried(split(32)).empty());
}

TEST_SUITE_END();
