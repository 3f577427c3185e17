#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// Kernels whose results tell how their threads are arranged.
TEST_SUITE_BEGIN("arranged_threads");

namespace {

/// y[n] from x[n] on blocks of 128, by default with blocks for all points.
MovePath kernel(const std::string& body, const std::string& grid = "ceil_div(n, 128)") {
  return MovePath(
      test::kernel_under_test("extern \"C\" __global__ void told(float* y, const float* x, int n) "
                              "{\n" +
                                  body + "}\n",
                              "told",
                              {{"y", "inout", "float32", "n"},
                               {"x", "input", "float32", "n"},
                               {"n", "scalar", "", "", 1000}},
                              grid, "128"));
}

const std::string kIndex = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
const std::string kNotFree = "the kernel's block size is not free";

/// A thread has no other points than those of neighbouring blocks, which keep their numbers.
void only_blocks_in_turn(const MovePath& path) {
  for (const std::string& step : path.listed("register_block")) {
    CAPTURE(step);
    CHECK(step.find("@blocks_") != std::string::npos);
    MovePath next = path;
    next.step(step).runs();
  }
}

}  // namespace

TEST_CASE("a block keeps the threads that the text counts on") {
  const auto sizes = [](const std::string& body, const std::string& grid = "ceil_div(n, 128)") {
    return kernel(body, grid).listed("change_block_sizes");
  };
  const std::string half = "change_block_sizes@launch(block_x=64)",
                    quarter = "change_block_sizes@launch(block_x=32)";
  const auto holds = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  const auto free = sizes(kIndex + "  if (i < n) y[i] = x[i];\n");
  CHECK(holds(free, half));
  CHECK(holds(free, quarter));
  const std::string head = kIndex + "  const int lane = threadIdx.x;\n  float v = 0.0f;\n  if (";
  const std::string rest = ") v = 1.0f;\n  if (i < n) y[i] = x[i] + v;\n";
  for (const std::string first : {"threadIdx.x < 64", "lane <= 63", "64 > lane", "lane == 63"}) {
    CAPTURE(first);
    const auto found = sizes(head + first + rest);
    CHECK(holds(found, half));
    CHECK_FALSE(holds(found, quarter));
  }
  CHECK(sizes(head + "lane < 320" + rest).empty());  // fewer threads than that do other work
}

TEST_CASE("threads that take elements by their place in the block are as many as they are") {
  const std::string strided =
      "  float sum = 0.0f;\n  for (int k = threadIdx.x; k < n; k += blockDim.x) sum += x[k];\n";
  const std::string same = "change_block_sizes@launch(block_x=64)";
  CHECK(kernel(strided + "  y[threadIdx.x] = sum;\n", "1").tried(same) == kNotFree);
  CHECK(kernel(strided + "  atomicAdd(&y[0], sum);\n", "1").step(same).runs().has("blockDim.x"));
}

TEST_CASE("blocks that a comparison counts are as large as they are, if the grid is of them") {
  const std::string store = "    if (i < n) y[i] = x[i];\n";
  for (const std::string few :
       {"blockIdx.x < 9", "128 * (int)blockIdx.x + 4 * (int)threadIdx.x < n",
        "blockIdx.x * 2 + 1 < 15"}) {
    CAPTURE(few);
    CHECK(kernel(kIndex + "  if (" + few + ") {\n" + store + "  } else {\n" + store + "  }\n")
              .listed("change_block_sizes")
              .empty());
  }
  // The number of an element, however it is spelt.
  const std::string far = "blockIdx.x * blockDim.x + (threadIdx.x + 100) < n";
  CHECK_FALSE(kernel(kIndex + "  if (" + far + ") {\n" + store + "  } else {\n" + store + "  }\n")
                  .listed("change_block_sizes")
                  .empty());
}

TEST_CASE("what a kernel writes of its launch stays what it is") {
  const std::string store = "  if (i < n) y[i] = ";
  CHECK(kernel(kIndex + store + "blockDim.x;\n").tried("change_block_sizes@launch(block_x=64)") ==
        kNotFree);
  CHECK(kernel(kIndex + store + "threadIdx.x + 1;\n").listed("change_block_sizes").empty());
  CHECK_FALSE(kernel(kIndex + store + "i * 2;\n").listed("change_block_sizes").empty());
  for (const std::string value : {"gridDim.x", "blockIdx.x", "threadIdx.x"}) {
    CAPTURE(value);
    only_blocks_in_turn(kernel(kIndex + store + value + ";\n"));
  }
}

TEST_CASE("points of a thread leave no trace of a second axis") {
  const std::string plane =
      "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  if (i < n / 10 && row < 10) y[row * (n / 10) + i] = x[row * (n / 10) + i] + ";
  const auto planar = [&](const std::string& value) {
    KernelSpec spec = test::kernel_under_test(
        "extern \"C\" __global__ void told(float* y, const float* x, int n) {\n" + kIndex + plane +
            value + ";\n}\n",
        "told",
        {{"y", "inout", "float32", "n"},
         {"x", "input", "float32", "n"},
         {"n", "scalar", "", "", 1000}},
        "7", "16");
    auto& reference = std::get<ReferenceKernel>(spec.reference);
    for (LaunchPlan* plan : {&spec.io.launch, &reference.launch})
      plan->grid[1] = Expression(5), plan->block[1] = Expression(2);
    return MovePath(spec);
  };
  MovePath free = planar("1.0f");
  REQUIRE_FALSE(free.listed("register_block").empty());
  free.step(free.listed("register_block").front()).runs();
  only_blocks_in_turn(planar("gridDim.x"));
  CHECK_FALSE(planar("blockIdx.y").listed("register_block").empty());
}

TEST_CASE("axes stay where a function that is not followed may count on warps") {
  const auto rows = [](const std::string& helper, const std::string& call) {
    KernelSpec spec = test::kernel_under_test(
        helper +
            "extern \"C\" __global__ void told(float* y, const float* x, int n) {\n"
            "  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + "
            "threadIdx.x;\n  float v = x[j * 32 + i];\n" +
            call + "  y[j * 32 + i] = v;\n}\n",
        "told",
        {{"y", "inout", "float32", "n"},
         {"x", "input", "float32", "n"},
         {"n", "scalar", "", "", 1024}},
        "2", "16");
    auto& reference = std::get<ReferenceKernel>(spec.reference);
    for (LaunchPlan* plan : {&spec.io.launch, &reference.launch})
      plan->grid[1] = Expression(8), plan->block[1] = Expression(4);
    return MovePath(spec);
  };
  CHECK(rows("", "").step("coalesce_remap@axes:xy").runs().has("threadIdx"));
  const std::string helper =
      "__device__ float joined(float v, int by) {\n  if (by > 0) v += __shfl_xor_sync(~0u, v, "
      "by);\n "
      " return v;\n}\n";
  CHECK(rows(helper, "  v = joined(v, 8);\n").listed("coalesce_remap").empty());
}

TEST_SUITE_END();

// Kernels whose text counts on the threads or the warps of their block without saying their number.
TEST_SUITE_BEGIN("block_constants");

namespace {

/// The sum of each of 6 rows of 1000, on blocks of 256 threads. `head` stands before the kernel,
/// `total` makes the whole from `v` of each thread.
KernelSpec row_sums(const std::string& head, const std::string& total) {
  return test::kernel_under_test(
      head +
          "__global__ void rows(float* out, const float* in, int n) {\n  float v = 0;\n"
          "  for (int k = threadIdx.x; k < n; k += blockDim.x) v += in[blockIdx.x * n + k];\n" +
          total + "}\n",
      "rows",
      {{"out", "output", "float32", "6"},
       {"in", "input", "float32", "6 * n"},
       {"n", "scalar", "", "", 1000}},
      "6", "256", 1e-4);
}

const std::string kFirst = "  if (threadIdx.x == 0) out[blockIdx.x] = v;\n";

/// A reduction over `warps` of them, the way people write it: the last loop ends there.
std::string over_warps(const std::string& warps, const std::string& room) {
  return "  __shared__ float part[" + room +
         "];\n  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);\n"
         "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n  __syncthreads();\n"
         "  v = 0;\n  for (int w = 0; w < " +
         warps + "; ++w) v += part[w];\n";
}

const std::string kReducer =
    "template <int W> struct BlockReducer {\n  __device__ static float sum(float v) {\n" +
    over_warps("W", "W") + "    return v;\n  }\n};\n";

std::vector<std::string> sizes(const KernelSpec& spec) {
  return MovePath(spec).listed("change_block_sizes");
}

std::string refusal(const KernelSpec& spec) {
  return MovePath(spec).tried("change_block_sizes@launch(block_x=128)");
}

}  // namespace

TEST_CASE("a number of warps that a constant says keeps the block as it is") {
  struct Spelling {
    std::string what, head, total;
  };
  const std::vector<Spelling> spellings{
      {"a template argument of a class", kReducer, "  v = BlockReducer<8>::sum(v);\n" + kFirst},
      {"one that is computed", kReducer, "  v = BlockReducer<2 * 4>::sum(v);\n" + kFirst},
      {"a type's name", kReducer + "using Reducer = BlockReducer<8>;\n",
       "  v = BlockReducer<8>::sum(v);\n" + kFirst},
      {"a default of a template",
       "template <int W = 8>\n__device__ float total(float v) {\n" + over_warps("W", "W") +
           "  return v;\n}\n",
       "  v = total(v);\n" + kFirst},
      {"a template argument of a function",
       "template <int W>\n__device__ float total(float v) {\n" + over_warps("W", "W") +
           "  return v;\n}\n",
       "  v = total<8>(v);\n" + kFirst},
      {"a constant of the file", "constexpr int kWarps = 8;\n",
       over_warps("kWarps", "kWarps") + kFirst},
      {"a macro", "#define WARPS (4 + 4)\n", over_warps("WARPS", "32") + kFirst},
      {"an enumeration", "enum { kWarps = 8 };\n", over_warps("kWarps", "32") + kFirst},
      {"a local constant", "", "  const int warps = 8;\n" + over_warps("warps", "32") + kFirst},
      {"a class's constant", "struct Traits { static constexpr int warps = 8; };\n",
       over_warps("Traits::warps", "32") + kFirst},
      {"a loop's end", "", over_warps("8", "32") + kFirst},
      {"a lane's limit", "",
       "  __shared__ float part[32];\n  int lane = threadIdx.x & 31;\n"
       "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);\n"
       "  if (lane == 0) part[threadIdx.x >> 5] = v;\n  __syncthreads();\n"
       "  v = lane < 8 ? part[lane] : 0.0f;\n"
       "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);\n" +
           kFirst},
      {"a constant index", "",
       "  __shared__ float part[32];\n"
       "  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);\n"
       "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n  __syncthreads();\n"
       "  v = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];\n" +
           kFirst}};
  for (const Spelling& s : spellings) {
    CAPTURE(s.what);
    const KernelSpec spec = row_sums(s.head, s.total);
    CHECK(sizes(spec).empty());
    CHECK(refusal(spec).find("the kernel's block size is not free: ") == 0);
  }
}

TEST_CASE("a number of threads that is computed keeps the block as it is") {
  const std::string tree =
      "  extern __shared__ float all[];\n  __syncthreads();\n  all[threadIdx.x] = v;\n"
      "  for (int s = ";
  const std::string rest =
      "; s > 0; s >>= 1) {\n    __syncthreads();\n    if (threadIdx.x < s) all[threadIdx.x] += "
      "all[threadIdx.x + s];\n  }\n  v = all[0];\n" +
      kFirst;
  const auto with_memory = [](KernelSpec spec) {
    spec.io.launch.dynamic_smem_bytes = Expression::parse("4 * 256", "launch plan");
    return spec;
  };
  CHECK(sizes(with_memory(row_sums("", tree + "1 << 7" + rest))).empty());
  CHECK(sizes(with_memory(
                  row_sums("constexpr int kThreads = 8 << 5;\n", tree + "kThreads / 2" + rest)))
            .empty());
  CHECK(sizes(with_memory(row_sums("#define LANES 32\n#define THREADS (8 * LANES)\n",
                                   tree + "THREADS / 2" + rest)))
            .empty());
  CHECK_FALSE(sizes(with_memory(row_sums("", tree + "blockDim.x / 2" + rest))).empty());
}

TEST_CASE("a template argument of the kernel's name may be its threads") {
  KernelSpec spec = row_sums("template <int T> ", over_warps("T / 32", "32") + kFirst);
  spec.kernel_name = "rows<256>";
  CHECK(sizes(spec).empty());
}

TEST_CASE("a kernel that counts its warps itself may have others") {
  const std::string half = "change_block_sizes@launch(block_x=128)";
  const auto holds = [&](const KernelSpec& spec) {
    const auto all = sizes(spec);
    return std::find(all.begin(), all.end(), half) != all.end();
  };
  const KernelSpec counted = row_sums("", over_warps("blockDim.x / 32", "32") + kFirst);
  REQUIRE(holds(counted));
  MovePath(counted).step(half).runs();
  // what another kernel of the file, or a helper that this one does not call, is made for
  const KernelSpec apart = row_sums(
      kReducer + "__global__ void other(float* a) { a[0] = BlockReducer<8>::sum(1.0f); }\n",
      over_warps("blockDim.x / 32", "32") + kFirst);
  REQUIRE(holds(apart));
  MovePath(apart).step(half).runs();
  // numbers that say nothing of the block
  const KernelSpec odd = row_sums(
      "", "  const int scale = 3;\n  v *= scale;\n  for (int r = 0; r < 8; ++r) v *= 0.5f + r;\n" +
              over_warps("blockDim.x / 32", "32") + kFirst);
  REQUIRE(holds(odd));
  MovePath(odd).step(half).runs();
  // threads that do not work together may say what they like
  const KernelSpec points = test::kernel_under_test(
      "template <int N> __device__ float power(float v) {\n  float out = 1;\n  for (int i = 0; i < "
      "N; ++i) out *= v;\n  return out;\n}\nextern \"C\" __global__ void points(float* y, const "
      "float* x, int n) {\n  constexpr int kEight = 8;\n  int i = blockIdx.x * blockDim.x + "
      "threadIdx.x;\n  if (i < n) y[i] = x[i] * kEight;\n}\n",
      "points",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"n", "scalar", "", "", 1000}},
      "ceil_div(n, 256)", "256");
  REQUIRE(holds(points));
  MovePath(points).step(half).runs();
}

TEST_SUITE_END();
