#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

const std::string kWindow = "smem_tile_stage@window:in(points=1,unroll=0)",
                  kUnrolled = "smem_tile_stage@window:in(points=1,unroll=1)";

/// A kernel over a plane of 29 x 45, a thread a point in blocks of 16 x 8; `body` follows x and y.
KernelSpec plane(const std::string& body,
                 std::int64_t height = 29,
                 const std::string& in_shape = "height * width",
                 const std::string& dtype = "float32",
                 const std::string& type = "float") {
  KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void plane(float* out, const " + type +
          "* in, const float* weights, int height, int width, int k) {\n"
          "  const int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  const int y = blockIdx.y * blockDim.y + threadIdx.y;\n" +
          body + "}\n",
      "plane",
      {{"out", "output", "float32", "height * width"},
       {"in", "input", dtype, in_shape, 0,
        dtype == "float32" ? nlohmann::json{{"kind", "randn"}, {"seed", 1}}
                           : nlohmann::json{{"kind", "randint"}, {"low", 0}, {"high", 200}}},
       {"weights", "input", "float32", "k * k"},
       {"height", "scalar", "", "", height},
       {"width", "scalar", "", "", 45},
       {"k", "scalar", "", "", 5}},
      "ceil_div(width, 16)", "16", 1e-4);
  spec.io.launch.grid[1] = Expression::parse("ceil_div(height, 8)", "test");
  spec.io.launch.block[1] = Expression(8);
  std::get<ReferenceKernel>(spec.reference).launch = spec.io.launch;
  return spec;
}

/// The sum of what `loop` adds to s for the points of the plane.
std::string summed(const std::string& loop) {
  return "  if (x >= width || y >= height) return;\n  float s = 0.0f;\n" + loop +
         "  out[y * width + x] = s;\n";
}

const std::string kFilter = summed(
    "  for (int i = 0; i < k; i++) {\n    for (int j = 0; j < k; j++) {\n      int r = y - k / 2 + "
    "i, c = x - k / 2 + j;\n      if (r >= 0 && r < height && c >= 0 && c < width) s += in[r * "
    "width + c] * weights[i * k + j];\n    }\n  }\n");

/// One thread a point of 300 in blocks of 64; `load` is what j of 9 steps adds.
KernelSpec line(const std::string& load, const std::string& parameter = "const float* in") {
  return test::kernel_under_test(
      "extern \"C\" __global__ void line(float* out, " + parameter +
          ", const float* taps, const int* at, int n, int m) {\n  int i = blockIdx.x * blockDim.x "
          "+ threadIdx.x;\n  if (i < n) {\n    float s = 0.0f;\n    for (int j = 0; j < m; j++) {\n"
          "      " +
          load + "\n    }\n    out[i] = s;\n  }\n}\n",
      "line",
      {{"out", "output", "float32", "n"},
       {"in", "input", "float32", "4 * (n + m)"},
       {"taps", "input", "float32", "m"},
       {"at", "input", "int32", "n", 0, {{"kind", "randint"}, {"low", 0}, {"high", 9}}},
       {"n", "scalar", "", "", 300},
       {"m", "scalar", "", "", 9}},
      "ceil_div(n, 64)", "64", 1e-4);
}

std::string refused(const KernelSpec& spec) {
  return MovePath(spec).step("specialise_shape@shape").tried(kWindow);
}

}  // namespace

TEST_SUITE_BEGIN("windows");

TEST_CASE("the window of a filter with its halo is staged, with or without unrolled loops") {
  MovePath plain(plane(kFilter));
  plain.step(kWindow).runs();
  // 8 + 4 rows of 16 + 4, which are 24 apart so that two rows of threads use different banks
  CHECK(plain.has("in_tile[12]["));
  CHECK(plain.has("in_tile[i + (int)threadIdx.y][j + (int)threadIdx.x] * weights[i * k + j]"));
  CHECK(plain.has("if (r >= 0"));
  CHECK_FALSE(plain.has("#pragma unroll"));
  MovePath unrolled(plane(kFilter));
  unrolled.step(kUnrolled).runs();
  CHECK(unrolled.has("#pragma unroll"));
  const auto several = [](int points) {
    return "smem_tile_stage@window:in(points=" + std::to_string(points) + ",unroll=1)";
  };
  const auto row = [](int points) {
    return "smem_tile_stage@row:in(points=" + std::to_string(points) + ")";
  };
  CHECK(MovePath(plane(kFilter)).listed("smem_tile_stage") ==
        std::vector<std::string>{several(4), several(2), kUnrolled, several(8), kWindow, row(4),
                                 row(8), row(2)});
}

TEST_CASE("neighbours along x read their part of the window in packs") {
  MovePath path(plane(kFilter));
  path.step("smem_tile_stage@row:in(points=4)").runs();
  CHECK(path.has("alignas(16) __shared__ float in_tile["));
  CHECK(path.has("in_tile[45 * i + j + 4 * (int)threadIdx.x + 45 * (int)threadIdx.y + u]"));
  CHECK(path.has("far from the edges: nothing to test"));
  MovePath line_of_taps(line("s += in[i + j] * taps[j];"));
  line_of_taps.step("smem_tile_stage@row:in(points=8)").runs();
  CHECK(line_of_taps.has("in_tile[j + 8 * (int)threadIdx.x + u]"));
  MovePath bytes(plane(kFilter, 29, "height * width", "uint8", "unsigned char"));
  bytes.step("smem_tile_stage@row:in(points=4)").runs();
  CHECK_FALSE(bytes.has("alignas"));
}

TEST_CASE("edges that are tested between the loops are tested before them for several points") {
  const std::string nested = summed(
      "  for (int i = 0; i < k; i++) {\n    int r = y - k / 2 + i;\n    if (r >= 0 && r < "
      "height) {\n      for (int j = 0; j < k; j++) {\n        int c = x - k / 2 + j;\n     "
      "   if (c >= 0 && c < width) s += in[r * width + c] * weights[i * k + j];\n      }\n "
      "   }\n  }\n");
  for (const char* step :
       {"smem_tile_stage@window:in(points=4,unroll=1)",
        "smem_tile_stage@window:in(points=2,unroll=1)", "smem_tile_stage@row:in(points=4)"}) {
    CAPTURE(step);
    MovePath path(plane(nested));
    path.step(step).runs();
    CHECK(path.has("far from the edges: nothing to test"));
  }
}

TEST_CASE("a window over a line: filters, strides, gaps, and steps back") {
  for (const std::string load :
       {"s += in[i + j] * taps[j];",
        "int e = i + j - m / 2;\n      if (e >= 0 && e < n) s += in[e] * taps[j];",
        "if (i >= j) s += in[i - j] * taps[j];", "s += in[2 * i + j] * taps[j];",
        "s += in[i + 3 * j] * taps[j];", "s += __ldg(&in[i + j]) * taps[j];",
        "const float* p = in + i;\n      s += p[j] * taps[j] + p[j + 1];"}) {
    CAPTURE(load);
    MovePath(line(load)).step(kWindow).runs();
  }
  // Elements that no thread needs are left out where they are most of all.
  MovePath apart(line("s += in[32 * (i % 2) + j];"));
  CHECK(apart.tried(kWindow) != "");
}

TEST_CASE("a stencil whose loads are written out, with guards or limits at the borders") {
  const std::string sum =
      "  s = in[(y - 1) * width + x - 1] + in[(y - 1) * width + x] + in[(y - 1) * width + x + 1] + "
      "in[y * width + x - 1] + in[y * width + x] + in[y * width + x + 1] + in[(y + 1) * width + x "
      "- 1] + in[(y + 1) * width + x] + in[(y + 1) * width + x + 1];\n";
  MovePath guarded(
      plane(summed("  if (x > 0 && y > 0 && x < width - 1 && y < height - 1)\n  " + sum)));
  guarded.step(kWindow).runs();
  CHECK(guarded.has("in_tile[10]["));
  CHECK(guarded.tried(kUnrolled) != "");
  std::string limited =
      "  int up = max(y - 1, 0), down = min(y + 1, height - 1), left = max(x - 1, 0), right = "
      "min(x "
      "+ 1, width - 1);\n  s = in[up * width + left] + in[up * width + x] + in[up * width + right] "
      "+ in[y * width + left] + in[y * width + x] + in[y * width + right] + in[down * width + "
      "left] "
      "+ in[down * width + x] + in[down * width + right];\n";
  MovePath clamped(plane(summed(limited)));
  clamped.step(kWindow).runs();
  CHECK(clamped.has("in_tile[10]["));
  CHECK_FALSE(clamped.has("in[up"));
  MovePath both(plane(summed(
      "  for (int i = -2; i <= 2; i++)\n    for (int j = -2; j <= 2; j++) s += in[min(max(y + i, "
      "0), height - 1) * width + min(max(x + j, 0), width - 1)];\n")));
  both.step(kUnrolled).runs();
  CHECK(both.has("in_tile[12]["));
}

TEST_CASE("loops that end at the borders move with the thread") {
  MovePath path(plane(summed(
      "  for (int r = max(y - 2, 0); r <= min(y + 2, height - 1); ++r)\n    for (int c = max(x - "
      "2, 0); c < min(x + 3, width); ++c) s += in[r * width + c];\n")));
  path.step(kWindow).runs();
  CHECK(path.has("in_tile[12]["));
}

TEST_CASE("channels are a dimension of the window, bytes are copied as bytes") {
  MovePath planes(plane(
      summed(
          "  for (int ch = 0; ch < 3; ch++)\n    for (int i = 0; i < 3; i++)\n      for (int j = "
          "0; j < 3; j++) {\n        int r = y + i - 1, c = x + j - 1;\n        if (r >= 0 && r "
          "< height && c >= 0 && c < width) s += in[(ch * height + r) * width + c];\n      }\n"),
      29, "3 * height * width"));
  planes.step(kWindow).runs();
  CHECK(planes.has("in_tile[3][10]["));
  MovePath bytes(plane(
      summed(
          "  for (int ch = 0; ch < 3; ch++)\n    for (int j = 0; j < 5; j++) {\n        int c = x "
          "+ j - 2;\n        if (c >= 0 && c < width) s += in[(y * width + c) * 3 + ch];\n      "
          "}\n"),
      29, "3 * height * width", "uint8", "unsigned char"));
  bytes.step(kWindow).runs();
  CHECK(bytes.has("unsigned char in_tile[8]["));
}

TEST_CASE(
    "several points a thread, tests before the loop and other blocks come before the window") {
  for (const std::string path : {"register_block@loop_y(points=4); ", "pad_tail_and_mask@loop:0; ",
                                 "change_block_sizes@launch(block_x=32,block_y=4); ",
                                 "register_block@loop_y(points=2); pad_tail_and_mask@loop:1; "}) {
    CAPTURE(path);
    MovePath steps(plane(kFilter, 32));
    steps.step("specialise_shape@shape");
    for (std::size_t at = 0, end = 0; (end = path.find("; ", at)) != std::string::npos;
         at = end + 2)
      steps.step(path.substr(at, end - at));
    steps.step(kUnrolled).runs();
    CHECK(steps.source().find(" in[r *") == std::string::npos);
  }
}

TEST_CASE("tests before the loop and staged weights come after the window, other blocks do not") {
  MovePath path(plane(kFilter, 32));
  path.step("register_block@loop_y(points=4)").step(kUnrolled);
  path.step("pad_tail_and_mask@loop:2").step("constant_operand@argument:weights(form=1)").runs();
  CHECK(path.has("far from the edges"));
  MovePath fixed(plane(kFilter, 32));
  fixed.step(kWindow);
  CHECK(fixed.listed("change_block_sizes").empty());
  CHECK(fixed.tried("register_block@loop_y(points=4)") != "");
  CHECK(fixed.tried(kWindow) != "");
}

TEST_CASE("the window of an example of convolution") {
  const auto specs = load_specs(WARPATH_SOURCE_ROOT "/tests/data/idioms");
  const auto spec = std::ranges::find(specs, "mask_filter", &KernelSpec::name);
  REQUIRE(spec != specs.end());
  MovePath path(*spec);
  path.step("register_block@loop_y(points=4)").step("pad_tail_and_mask@loop:1").step(kUnrolled);
  path.runs();
  CHECK(path.has("in_tile[68]["));
  MovePath at_once(*spec);
  at_once.step("smem_tile_stage@window:in(points=4,unroll=1)").runs();
  CHECK(at_once.variant() == path.variant());
}

TEST_CASE(
    "what is not known of blocks and the array leaves it where it is; two sizes make versions") {
  KernelSpec tuned = test::kernel_under_test(
      "extern \"C\" __global__ void line(float* out, const float* in, int n) {\n  int i = "
      "blockIdx.x * BLOCK + threadIdx.x;\n  if (i < n) out[i] = in[i] + in[i + 1] + in[i + "
      "2];\n}\n",
      "line",
      {{"out", "output", "float32", "n"},
       {"in", "input", "float32", "n + 2"},
       {"n", "scalar", "", "", 300}},
      "ceil_div(n, BLOCK)", "BLOCK", 1e-4, {{"BLOCK", 64}});
  CHECK(MovePath(tuned).tried(kWindow) == "the block's size is no number");
  KernelSpec sizes = line("s += in[i + j];");
  CHECK(MovePath(sizes).tried("smem_tile_stage@window:other(points=1,unroll=0)") ==
        "there is no array other");
  sizes.workloads.push_back(sizes.workloads.front());
  sizes.workloads.back().name = "longer", sizes.workloads.back().scalars["m"] = 12;
  MovePath both(sizes);
  both.step(kWindow).runs();
  CHECK(kernels_of(both.variant()).size() == 3);  // a version a size, and the kernel as it was
}

TEST_CASE("an index that is limited by a branch, for several rows a thread, too") {
  for (const std::string limits :
       {"if (r < 0) r = 0;\n      if (r >= height) r = height - 1;\n      c = c < 0 ? 0 : c;\n "
        "     c = c < width ? c : width - 1;",
        "r = r < 0 ? 0 : r;\n      r = r > height - 1 ? height - 1 : r;\n      if (c < 0) c = 0;\n "
        "     if (c > width - 1) c = width - 1;"}) {
    CAPTURE(limits);
    MovePath path(plane(
        summed("  for (int i = 0; i < k; i++) {\n    for (int j = 0; j < k; j++) {\n      int r = "
               "y - k / 2 + i, c = x - k / 2 + j;\n      " +
               limits + "\n      s += in[r * width + c] * weights[i * k + j];\n    }\n  }\n")));
    path.step(kWindow).runs();
    CHECK(path.has("in_tile[12]["));
  }
  for (const std::string axis : {"x", "y"}) {
    MovePath path(plane(kFilter));
    path.step("register_block@loop_" + axis + "(points=2)").step(kUnrolled).runs();
    CHECK(path.has("in_tile["));
  }
}

TEST_CASE("what is no window stays where it is") {
  CHECK(refused(line("s += in[i + j];\n      in[i] = s;", "float* in")).find("is written") !=
        std::string::npos);
  CHECK(refused(line("s += in[i * j];")).find("no sum of multiples") != std::string::npos);
  CHECK(refused(line("s += in[i + at[i]];")).find("is not known") != std::string::npos);
  CHECK(refused(line("for (int e = 0; e < at[j]; e++) s += in[i + e];")).find("is not known") !=
        std::string::npos);
  CHECK(refused(line("for (int e = 0; e < (int)blockIdx.x; e++) s += in[i + e];"))
            .find("is not known") != std::string::npos);
  CHECK(refused(line("s += in[j] * taps[j];")).find("the same elements") != std::string::npos);
  CHECK(refused(line("s += in[i] * taps[j];")).find("hardly more than once") != std::string::npos);
  CHECK(refused(line("for (int e = 0; e < 200; e++) s += in[(i & 1) + e];")) != "");
  KernelSpec wide = plane(summed("  for (int i = 0; i < 900; i++) s += in[i * width + x];\n"), 900);
  CHECK(refused(wide).find("bytes of shared memory") != std::string::npos);
}

TEST_SUITE_END();
