#include <doctest/doctest.h>

#include <string>

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

TEST_CASE("what a kernel writes of its launch stays what it is") {
  const std::string store = "  if (i < n) y[i] = ";
  CHECK(kernel(kIndex + store + "blockDim.x;\n").tried("change_block_sizes@launch(block_x=64)") ==
        kNotFree);
  CHECK(kernel(kIndex + store + "threadIdx.x + 1;\n").listed("change_block_sizes").empty());
  CHECK_FALSE(kernel(kIndex + store + "i * 2;\n").listed("change_block_sizes").empty());
  for (const std::string value : {"gridDim.x", "blockIdx.x", "threadIdx.x"}) {
    CAPTURE(value);
    CHECK(kernel(kIndex + store + value + ";\n").listed("register_block").empty());
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
  CHECK(planar("gridDim.x").listed("register_block").empty());
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
