#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

/// The sum of each column of a matrix of 60 x 24, a block of 64 threads a column.
KernelSpec column_sums(const std::string& head,
                       const std::string& half = "32",
                       const std::string& factor = "") {
  return test::kernel_under_test(
      "extern \"C\" __global__ void columns(float* out, const float* in) {\n  __shared__ float "
      "part[64];\n  int c = blockIdx.x, t = threadIdx.x;\n" +
          head + "  float sum = 0;\n  for (int r = t; r < 60; r += blockDim.x) sum += " + factor +
          "in[r * 24 + c];\n  part[t] = sum;\n  for (int s = " + half +
          "; s > 0; s /= 2) {\n    __syncthreads();\n    if (t < s) part[t] += part[t + s];\n  }\n"
          "  if (t == 0) out[c] = part[0];\n}\n",
      "columns", {{"out", "output", "float32", "24"}, {"in", "input", "float32", "60 * 24"}}, "24",
      "64", 1e-4);
}

/// Blocks of 64 threads that hand on what they load through t[element].
KernelSpec through_shared(const std::string& element) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void through(float* out, const float* in) {\n  __shared__ float "
      "t[128];\n  int i = threadIdx.x;\n  t[" +
          element +
          "] = in[blockIdx.x * 64 + i];\n  __syncthreads();\n  out[blockIdx.x * 64 + i] = t[" +
          element + "];\n}\n",
      "through", {{"out", "output", "float32", "256"}, {"in", "input", "float32", "256"}}, "4",
      "64");
}

}  // namespace

TEST_SUITE_BEGIN("shared_arrays");

TEST_CASE("neighbouring blocks become neighbouring threads where that makes memory contiguous") {
  MovePath path(column_sums(""));
  path.step("coalesce_remap@blocks(columns=8,threads=0)").runs();
  CHECK(path.has("part[64][COLUMNS]"));
  CHECK(path.variant().launch.grid[0].text() == "3");
  CHECK(path.listed("coalesce_remap").empty());
  const auto why = [](const KernelSpec& spec, const std::string& columns) {
    return MovePath(spec).tried("coalesce_remap@blocks(columns=" + columns + ",threads=0)");
  };
  CHECK(why(column_sums(""), "16").find("no multiple") != std::string::npos);
  CHECK(why(column_sums("  if (c > 20) return;\n"), "8").find("same barriers") !=
        std::string::npos);
  KernelSpec tuned = column_sums("");  // the next value may leave no whole number of blocks
  tuned.tunables.push_back({"BLOCKS", {12, 24}, 24, "blocks"});
  tuned.io.launch.grid[0] = Expression::parse("BLOCKS", "test");
  CHECK(why(tuned, "8") == "the launch depends on a tunable");
  CHECK(why(through_shared("i"), "4").find("no neighbouring elements") != std::string::npos);
}

TEST_CASE("a variable that a block shares is one of each of the blocks side by side") {
  const std::string shares =
      "  __shared__ float scale;\n  if (t == 0) scale = c + 1.0f;\n  __syncthreads();\n";
  MovePath path(column_sums(shares, "32", "scale * "));
  path.step("coalesce_remap@blocks(columns=8,threads=0)").runs();
  CHECK(path.has("float scale[COLUMNS];"));
  CHECK(path.has("scale[threadIdx.x] * in["));
  CHECK(MovePath(column_sums(shares, "32", "*&scale * "))
            .tried("coalesce_remap@blocks(columns=8,threads=0)") ==
        "a shared variable is used beyond its value");
}

TEST_CASE("a block may be smaller than the shared arrays that are made for it") {
  MovePath path(column_sums("", "blockDim.x / 2"));
  CHECK(path.listed("change_block_sizes") ==
        std::vector<std::string>{"change_block_sizes@launch(block_x=32)"});
  path.step("change_block_sizes@launch(block_x=32)").runs();
  path.step("coalesce_remap@blocks(columns=8,threads=0)").runs();
  CHECK(path.variant().launch.block[1].text() == "32");
  MovePath at_once(column_sums("", "blockDim.x / 2"));
  at_once.step("coalesce_remap@blocks(columns=8,threads=32)").runs();
  CHECK(at_once.variant() == path.variant());
  // A number elsewhere may stand for the block, or for the warps in it.
  CHECK(MovePath(column_sums("  if (t >= 64) return;\n", "blockDim.x / 2"))
            .listed("change_block_sizes")
            .empty());
  CHECK(MovePath(column_sums("")).listed("change_block_sizes").empty());
}

TEST_CASE("an array without rows is spread where threads touch it in strides") {
  MovePath path(through_shared("i < 32 ? 2 * i : 2 * i + 1"));
  path.step("smem_pad_swizzle@shared:t(pad=1)").runs();
  CHECK(path.has("float t[132];"));
  CHECK(path.has("t[(i < 32 ? 2 * i : 2 * i + 1) + (i < 32 ? 2 * i : 2 * i + 1) / 32]"));
  CHECK(MovePath(through_shared("2 * i"))
            .step("smem_pad_swizzle@shared:t(pad=1)")
            .runs()
            .has("t[2 * i + (2 * i) / 32]"));
  CHECK(MovePath(through_shared("i"))
            .tried("smem_pad_swizzle@shared:t(pad=1)")
            .find("neighbouring elements") != std::string::npos);
}

TEST_SUITE_END();
