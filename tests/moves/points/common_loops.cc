#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;
using test::TestArgument;

namespace {

std::vector<TestArgument> pair_arguments(std::int64_t n, std::int64_t m) {
  return {{"f", "output", "float32", "n"},
          {"x", "input", "float32", "n"},
          {"w", "input", "float32", "m", 0, {{"kind", "uniform"}, {"low", 1}, {"high", 2}}},
          {"n", "scalar", "", "", n},
          {"m", "scalar", "", "", m}};
}

/// One point a thread; `body` is what stands between braces behind the index.
KernelSpec pairs(const std::string& body, std::int64_t n = 301) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void pairs(float* f, const float* x, const float* w, int n, int m) "
      "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
          body + "}\n",
      "pairs", pair_arguments(n, 77), "ceil_div(n, 64)", "64", 1e-4);
}

const std::string kGuardedLoop =
    "  if (i < n) {\n"
    "    const float mine = x[i];\n"
    "    float sum = 0.0f, least = 1e30f;\n"
    "    for (int j = 0; j < m; j++) {\n"
    "      float scale = 1.0f / (w[j] * w[j]);\n"
    "      float d = mine - w[j];\n"
    "      sum += d * d * scale;\n"
    "      if (d * d < least) least = d * d;\n"
    "    }\n"
    "    f[i] = sum - least;\n"
    "  }\n";

/// Weights around each element of a plane, zero beyond its edges.
KernelSpec filter(std::int64_t height, const std::string& test) {
  KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void filter(float* o, const float* in, const float* w, int height, "
      "int width) {\n  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * "
      "blockDim.y + threadIdx.y;\n  if (x >= width || y >= height) return;\n  int top = y - 1;\n  "
      "float sum = 0.0f;\n  for (int i = 0; i < 3; i++) {\n    for (int j = 0; j < 3; j++) {\n"
      "      int r = top + i, c = x + j - 1;\n      " +
          test + "\n    }\n  }\n  o[y * width + x] = sum;\n}\n",
      "filter",
      {{"o", "output", "float32", "height * width"},
       {"in", "input", "float32", "height * width"},
       {"w", "input", "float32", "9"},
       {"height", "scalar", "", "", height},
       {"width", "scalar", "", "", 21}},
      "ceil_div(width, 8)", "8", 1e-4);
  spec.io.launch.grid[1] = Expression::parse("ceil_div(height, 8)", "test");
  spec.io.launch.block[1] = Expression(8);
  auto& reference = std::get<ReferenceKernel>(spec.reference);
  reference.launch = spec.io.launch;
  return spec;
}

const std::string kInside =
    "if (r >= 0 && r < height && c >= 0 && c < width) sum += in[r * width + c] * w[i * 3 + j];";

}  // namespace

TEST_SUITE_BEGIN("common_loops");

TEST_CASE("points of a thread share the loop that all of them run, and what depends on it alone") {
  MovePath path(pairs(kGuardedLoop));
  path.step("register_block@loop_x(points=4)").runs();
  CHECK(path.has("float mine[POINTS];"));
  CHECK(path.has("mine[u] = x[i];"));
  // Once an iteration, not once a point.
  const std::size_t shared = path.source().find("float scale ="),
                    points = path.source().find("float d = mine[u]");
  CHECK(shared < points);
  CHECK(path.source().substr(shared, points - shared).find("for (int u") != std::string::npos);
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(ceil_div(n, 64), 4)");
  // 301 points are no multiple of a thread's: the last stands in for those beyond.
  CHECK(path.has("if (i >= 301) i = 301 - 1;"));
  CHECK(path.has("if (i >= 301) continue;"));
}

TEST_CASE("comments stay in front of what they stood before") {
  MovePath path(
      pairs("  if (i >= n) return;  // beyond\n  // mine\n  float p = x[i], sum = 0;\n  // "
            "all\n  for (int j = 0; j < m; j++) {\n    // each\n    sum += p * w[j];  // "
            "added\n  }\n  f[i] = sum;  // stored\n"));
  path.step("register_block@loop_x(points=2)").runs();
  std::size_t at = 0;
  for (const std::string one : {"// beyond", "// mine", "// all", "for (int j", "// each",
                                "sum[u] +=", "// added", "f[i] = sum[u];", "// stored"}) {
    CAPTURE(one);
    at = path.source().find(one, at);
    REQUIRE(at != std::string::npos);
  }
}

TEST_CASE("where threads have exactly their points, none is tested") {
  MovePath path(pairs(kGuardedLoop, 512));
  path.step("register_block@loop_x(points=4)").runs();
  CHECK_FALSE(path.has("if (i >= 512)"));
}

TEST_CASE("what all points of a block load is staged for them together") {
  for (const std::int64_t points : {2, 4}) {
    MovePath path(pairs(kGuardedLoop));
    path.step("register_block@loop_x(points=" + std::to_string(points) + ")")
        .step("smem_tile_stage@stream:1(tile=32)")
        .runs();
    CHECK(path.has("w_tile"));
  }
}

TEST_CASE("an early return guards the points, too, and other loops stay within a point") {
  MovePath path(
      pairs("  if (i >= n) return;\n  float sum = 0.0f;\n"
            "  for (int j = 0; j < m; j++) {\n    float p = x[i];\n"
            "    for (int k = 0; k < i % 3; k++) p *= 0.5f;\n    if (p < 0) continue;\n"
            "    sum += p * w[j];\n  }\n  if (sum < 0) return;\n  f[i] = sum;\n"
            "  if (sum > 1e30f) f[i] = 0;\n"));
  // f stays as it was where the kernel returns: only the text is looked at.
  path.step("register_block@loop_x(points=2)");
  CHECK(path.has("if (sum[u] < 0) continue;"));
  CHECK(path.has("for (int k = 0; k < i % 3; k++)"));
}

TEST_CASE("points that hand something on, or that differ in their loops, stay apart") {
  const auto why = [](const std::string& body) {
    return MovePath(pairs(body)).tried("register_block@loop_x(points=4)");
  };
  CHECK(why("  if (i < n) f[i] = x[i];\n").find("no common loop") != std::string::npos);
  CHECK(
      why("  if (i < n) {\n    float s = 0;\n    for (int j = 0; j < i; j++) s += w[j % 77];\n    "
          "f[i] = s;\n  }\n")
          .find("no common loop") != std::string::npos);
  CHECK(
      why("  if (i < n) {\n    f[i] = 0;\n    for (int j = 0; j < m; j++) f[i] += w[j];\n  }\n") !=
      "");
  CHECK(
      why("  if (i < n && i > 2) {\n    float s = 0;\n    for (int j = 0; j < m; j++) s += w[j] * "
          "x[i];\n    f[i] = s;\n  }\n")
          .find("more than a bound") != std::string::npos);
}

TEST_CASE("what is the same for all points is done once, between what differs") {
  MovePath path(
      pairs("  if (i < n) {\n    float s = 0, t = 1;\n    int at = 0;\n    for (int j = 0; j < m; "
            "j++) {\n      s += t * x[i] + w[at];\n      t *= 0.875f;\n      if (j % 5 == 4) t = "
            "1;\n      at++;\n    }\n    f[i] = s;\n  }\n"));
  path.step("register_block@loop_x(points=4)").runs();
  CHECK(path.has("float t = 1;"));
  CHECK(path.has("    t *= 0.875f;\n    if (j % 5 == 4) t = 1;\n"));
}

TEST_CASE("a place that changes later is kept, not computed again") {
  MovePath path(
      pairs("  if (i < n) {\n    int shift = 1;\n    int at = (i + shift) % n;\n    float s = 0;\n"
            "    for (int j = 0; j < m; j++) {\n      s += x[at] * w[j];\n      shift++;\n    }\n"
            "    f[i] = s + shift + x[at];\n  }\n"));
  path.step("register_block@loop_x(points=2)").runs();
  CHECK(path.has("int at[POINTS];"));
}

const std::string kChannels =
    "if (r >= 0 && r < height && c >= 0 && c < width) {\n        int at = r * width + c, k = i * 3 "
    "+ j;\n        for (int p = 0; p < 5; p++) {\n          sum += in[at] * w[k];\n          at = "
    "(at + 7) % (height * width);\n          k = k < 8 ? k + 1 : 0;\n        }\n      }";

TEST_CASE("a condition around a loop holds for some points, and the loop runs for all of them") {
  for (const std::int64_t height : {32, 29}) {
    CAPTURE(height);
    MovePath path(filter(height, kChannels));
    path.step("register_block@loop_y(points=4)").runs();
    // What the points share is done once: one weight for all of them.
    const std::size_t loop = path.source().find("for (int p = 0"),
                      mine = path.source().find("if (r >= 0 && r < height && c >= 0", loop),
                      shared = path.source().find("k = k < 8 ? k + 1 : 0;");
    CHECK(loop < mine);
    CHECK(mine < shared);
    CHECK(path.has("int k = i * 3 + j;"));
  }
}

TEST_CASE("a condition that is more than a place is not tested again") {
  for (const std::string test :
       {"in[r * width + c] > 0.0f", "r / (c + 1) < 9", "r + int(sum) >= 0"}) {
    CAPTURE(test);
    MovePath path(filter(29, "if (r >= 0 && r < height && c >= 0 && c < width && " + test +
                                 ") {\n        for (int p = 0; p < 3; p++) sum += p * in[r * width "
                                 "+ c];\n      }"));
    path.step("register_block@loop_y(points=2)").runs();
    CHECK((path.has("bool inside[POINTS];") || path.has("sum[u] += p *")));
  }
}

TEST_CASE("a condition that the points share stays one condition") {
  MovePath path(filter(29,
                       "if (w[i * 3 + j] > 0.0f) {\n        for (int p = 0; p < 3; p++) sum += "
                       "in[((r + height) * width + c + p) % (height * width)];\n      }"));
  path.step("register_block@loop_y(points=2)").runs();
  CHECK(path.has("if (w[i * 3 + j] > 0.0f) {"));
  CHECK_FALSE(path.has("inside"));
}

TEST_CASE("what a point must not come to is not done for the others' sake") {
  // The bound is read from memory, or divided by: the loop stays within the point.
  MovePath path(filter(29,
                       "if (r >= 0 && r < height && c >= 0 && c < width) {\n        const float "
                       "v = in[r * width + c];\n        const float part = 1.0f / w[i];\n      "
                       "  for (int p = 0; p < 3; p++) sum += v * w[p * 3 + j] * part;\n      }"));
  path.step("register_block@loop_y(points=2)").runs();
  CHECK(path.has("float part[POINTS];"));
  MovePath bound(
      filter(29,
             "if (r >= 0 && r < height && c >= 0 && c < width) {\n        for (int p = 0; p < "
             "12 / (r + 1); p++) sum += in[r * width + c];\n      }"));
  bound.step("register_block@loop_y(points=2)").runs();
  CHECK_FALSE(bound.has("inside"));
}

TEST_CASE("a kernel that asks for its place in the launch by other words keeps its points apart") {
  const auto why = [](const std::string& before, const std::string& inside) {
    KernelSpec spec = filter(29, kInside + inside);
    spec.source = before + spec.source;
    return MovePath(std::move(spec)).tried("register_block@loop_y(points=2)");
  };
  CHECK(why("", "").empty());
  CHECK(why("", " sum += blockIdx.x;").empty());
  const auto refuses = [&](const std::string& before, const std::string& inside) {
    CHECK(why(before, inside).find("place in the launch") != std::string::npos);
  };
  refuses("#define BY ((int)blockIdx.y)\n", " sum += BY;");
  refuses("", " auto b = blockIdx; sum += b.y;");
  refuses("__device__ int by() { return blockIdx.y; }\n", " sum += by();");
}

TEST_CASE("blocks under the guards that declare one name twice stay blocks") {
  const std::string rest =
      "    float s = k;\n    for (int j = 0; j < m; j++) s += x[i] * w[j];\n    f[i] = s;\n  }\n";
  MovePath twice(pairs("  int k = 3;\n  if (i < n) {\n    int k = 5;\n" + rest));
  CHECK(twice.tried("register_block@loop_x(points=4)").find("same name") != std::string::npos);
  MovePath once(pairs("  int k = 3;\n  if (i < n) {\n" + rest));
  once.step("register_block@loop_x(points=4)").runs();
}

const std::string kIn = "if (r >= 0 && r < height && c >= 0 && c < width";

TEST_CASE("what stands under a condition of a point keeps its scope") {
  const std::string loop = "for (int p = 0; p < 3; p++) sum += in[r * width + c] * w[p * 3 + q];";
  // The second q is another variable, and so is the one outside.
  const std::string once = kIn + ") {\n        int q = j;\n        " + loop + "\n      }\n      ";
  for (const std::string& test : {"int q = 7;\n      " + once + "sum += q;",
                                  once +
                                      "if (r > 3 && r < height && c >= 0 && c < "
                                      "width) {\n        int q = 2 - j;\n        " +
                                      loop + "\n      }"}) {
    MovePath path(filter(29, test));
    path.step("register_block@loop_y(points=2)").runs();
    CHECK(path.has("{\n        int q = j;"));
  }
}

TEST_CASE("under a condition of a point nothing shared reads, divides or runs without an end") {
  const std::string loop = "for (int p = 0; p < 3; p++) sum += in[r * width + c];";
  MovePath read(filter(29, kIn + " && j < 2) {\n        if (w[j * 4 + i] > -100.0f) {\n          " +
                               loop + "\n        }\n      }"));
  read.step("register_block@loop_y(points=2)").runs();
  CHECK_FALSE(read.has("inside"));
  MovePath divided(filter(29, kIn + " && width != 0) {\n        if (j / width < 2) {\n          " +
                                  loop + "\n        }\n      }"));
  divided.step("register_block@loop_y(points=2)").runs();
  CHECK_FALSE(divided.has("inside"));
  MovePath own(filter(29, kIn + " && j < 2) {\n        float t[2];\n        t[j] = j;\n        for "
                                "(int p = 0; p < 3; p++) sum += in[r * width + c] * t[j];\n      "
                                "}"));
  own.step("register_block@loop_y(points=2)");
  CHECK_FALSE(own.has("\n          t[j] = j;\n          for (int p"));
  CHECK(own.has("float t[POINTS][2];"));
  MovePath endless(filter(29, kIn + ") {\n        int q = 0, z = 0;\n        while (q < 10) {\n"
                                    "          q += width;\n          z++;\n        }\n        for "
                                    "(int p = 0; p < 3; p++) sum += in[r * width + c] * z;\n      "
                                    "}"));
  endless.step("register_block@loop_y(points=2)").runs();
  CHECK(endless.has("z[POINTS]"));
}

TEST_CASE("what a declaration changes is changed for each point") {
  for (const std::string body :
       {"float v = x[i] * w[at++];\n      s += v;", "float v = (q += x[i]);\n      s += v * w[j];",
        "float v = x[i] > 0 ? w[at++] : 0;\n      s += v;",
        "float v = x[i] * w[j];\n      if (v < 0) continue;\n      int z = at++;\n      s += v * "
        "z;",
        "s += x[i] * at;\n      int a = at++;\n      s += a;"}) {
    CAPTURE(body);
    MovePath path(
        pairs("  if (i < n) {\n    float s = 0, q = 0;\n    int at = 0;\n    for (int j = "
              "0; j < m; j++) {\n      " +
              body + "\n    }\n    f[i] = s + q + at;\n  }\n"));
    path.step("register_block@loop_x(points=2)").runs();
  }
}

TEST_CASE("variables of several names, or names of several variables, are not taken apart") {
  const auto why = [](const std::string& body) {
    return MovePath(pairs("  if (i < n) {\n    float s = 0, acc[2];\n    acc[0] = 0;\n    acc[1] = "
                          "1;\n    int q = 2;\n    int at = (i + q) % n;\n" +
                          body + "    f[i] = s + acc[0] + acc[1] + x[at];\n  }\n"))
        .tried("register_block@loop_x(points=2)");
  };
  const auto loop = [](const std::string& body) {
    return "    for (int j = 0; j < m; j++) {\n      " + body + "\n    }\n";
  };
  CHECK(why(loop("s += x[i] * w[j];")).empty());
  CHECK(why(loop("float& r = s;\n      r += x[i] * w[j];")) != "");
  CHECK(why(loop("float& r = acc[j % 2];\n      r += x[i] * w[j];")) != "");
  CHECK(why(loop("int at = j % 5;\n      s += x[i] * w[at];")).find("several things") !=
        std::string::npos);
}

TEST_CASE("the bound of the points means the same in front of every loop over them") {
  const auto why = [](const std::string& body, const std::string& after) {
    KernelSpec spec =
        pairs("  if (i < n) {\n    float s = 0;\n    for (int j = 0; j < m; j++) {\n      " + body +
              "\n    }\n    " + after + "f[i] = s;\n  }\n");
    spec.workloads.push_back(spec.workloads.front());
    spec.workloads.back().name = "shorter";
    spec.workloads.back().scalars["n"] = std::int64_t{203};
    return MovePath(std::move(spec)).tried("register_block@loop_x(points=2)");
  };
  CHECK(why("s += x[i] * w[j];", "") == "");
  CHECK(why("s += x[i] * w[j];", "n = n / 2;\n    s += n;\n    ") == "n changes");
  CHECK(why("int n = j % 3;\n      s += x[i] * w[n];", "") == "n means several things");
}

TEST_CASE("a place is kept where another variable hides what it is made of") {
  MovePath path(
      pairs("  if (i < n) {\n    float s = 0;\n    int q = 2;\n    int at = (i + q) % n;\n    for "
            "(int j = 0; j < m; j++) {\n      int q = j % 5;\n      s += x[at] * w[q];\n    }\n    "
            "f[i] = s;\n  }\n"));
  path.step("register_block@loop_x(points=2)").runs();
  CHECK(path.has("int at[POINTS];"));
}

TEST_CASE("members of a structure that points change are kept for each") {
  KernelSpec spec = test::kernel_under_test(
      "struct Q { float a[2]; };\nextern \"C\" __global__ void pairs(float* f, const float* x, "
      "const float* w, int n, int m) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i "
      "< n) {\n    Q q;\n    q.a[0] = 0;\n    q.a[1] = 0;\n    for (int j = 0; j < m; j++) q.a[j % "
      "2] += x[i] * w[j];\n    f[i] = q.a[0] + q.a[1];\n  }\n}\n",
      "pairs", pair_arguments(301, 77), "ceil_div(n, 64)", "64", 1e-4);
  MovePath path(spec);
  if (path.tried("register_block@loop_x(points=2)").empty()) path.runs();
}

TEST_CASE("a statement reads what it read before a variable of the same name is declared") {
  MovePath path(
      pairs("  if (i < n) {\n    float s = 0, t = 3;\n    for (int j = 0; j < m; j++) {\n "
            "     s += x[i] * t;\n      float v = x[i] + 1, t = 2;\n      s += v * t;\n  "
            "  }\n    f[i] = s;\n  }\n"));
  if (path.tried("register_block@loop_x(points=2)").empty()) path.runs();
}

TEST_CASE("points along both axes make a tile of them in registers") {
  for (const std::string& test : {kInside, kChannels}) {
    MovePath path(filter(29, test));
    path.step("register_block@loop_y(points=3)").step("register_block@loop_x(points=2)").runs();
    CHECK(path.has("float sum[POINTS_2][POINTS];"));
    MovePath other(filter(32, test));
    other.step("register_block@loop_x(points=2)").step("register_block@loop_y(points=4)").runs();
    CHECK(other.has("float sum[POINTS_2][POINTS];"));
  }
}

TEST_CASE("neighbouring rows of a thread run the loops of a filter together") {
  for (const std::int64_t height : {32, 29}) {
    CAPTURE(height);
    MovePath path(filter(height, kInside));
    path.step("register_block@loop_y(points=4)").runs();
    CHECK(path.has("if (x >= width) return;"));
    // A place is computed again, not kept.
    CHECK_FALSE(path.has("top[POINTS]"));
  }
}

TEST_CASE("tests that a thread passes in every iteration are made before the loop") {
  MovePath path(filter(32, kInside));
  path.step("specialise_shape@shape").step("pad_tail_and_mask@loop:0").runs();
  CHECK(path.has("} else {"));
  const std::size_t far = path.source().find("far from the edges"),
                    near = path.source().find("} else {");
  CHECK(path.source().substr(far, near - far).find("r >= 0") == std::string::npos);
  CHECK(path.source().substr(near).find("r >= 0") != std::string::npos);
  // After that, threads of several rows, too; and skipped iterations are tests.
  MovePath rows(filter(32,
                       "if (r < 0 || r >= height || c < 0 || c >= width) continue;\n      sum "
                       "+= in[r * width + c] * w[i * 3 + j];"));
  rows.step("register_block@loop_y(points=2)").step("pad_tail_and_mask@loop:1").runs();
  CHECK(rows.has("far from the edges"));
}

TEST_CASE("tests that depend on data, or that never hold everywhere, stay in the loop") {
  const auto why = [](const std::string& test) {
    return MovePath(filter(32, test)).tried("pad_tail_and_mask@loop:0");
  };
  CHECK(why("if (w[i * 3 + j] > 0) sum += w[i * 3 + j];").find("no test in the loop") !=
        std::string::npos);
  CHECK(why("sum += w[i * 3 + j];").find("no test in the loop") != std::string::npos);
  CHECK(why("if (i >= 0) sum += w[i * 3 + j];").find("always hold") != std::string::npos);
}

TEST_CASE("what a loop computes of a table alone is computed once for the block") {
  const auto points = [](const std::string& adds) {
    return test::kernel_under_test(
        "extern \"C\" __global__ void points(float* out, const float* x, const float* w, const "
        "float* "
        "c) {\n  int i = blockIdx.x * 64 + threadIdx.x;\n  float v = x[i], sum = 0.0f;\n  for (int "
        "j "
        "= 0; j < 48; ++j) {\n    " +
            adds + "\n  }\n  out[i] = sum;\n}\n",
        "points",
        {{"out", "output", "float32", "256"},
         {"x", "input", "float32", "256"},
         {"w", "input", "float32", "48"},
         {"c", "input", "float32", "48"}},
        "4", "64", 1e-4);
  };
  const auto staged = [&](const std::string& adds) {
    MovePath path(points(adds));
    return path.step("smem_tile_stage@stream:0(tile=32)").runs();
  };
  MovePath width =
      staged("float scale = 1.0f / (2.0f + w[j] * w[j]);\n    sum += c[j] * v * scale;");
  CHECK(width.has("scale_tile[e] = 1.0f / (2.0f + w[e + j0] * w[e + j0]);"));
  CHECK(width.has("float scale = scale_tile[j - j0];"));
  CHECK(width.has("sum += c_tile[j - j0] * v * scale;"));
  CHECK_FALSE(width.has("w_tile"));
  CHECK(staged("sum += v * (w[j] * c[j]);").has("value_tile[e] = w[e + j0] * c[e + j0];"));
  // A quick value of what is read anyway would be one more to read; a function pays all the same.
  CHECK_FALSE(staged("sum += v * (w[j] * c[j]) + v / (v - w[j]) - c[j] / v;").has("value_tile"));
  CHECK(staged("sum += v * sqrtf(fabsf(w[j])) + w[j] / (2.0f + v * v);").has("value_tile"));
  // The same value twice is one; what a thread's own values are part of stays.
  MovePath twice = staged("sum += v * expf(w[j]);\n    sum -= expf(w[j]);");
  CHECK(twice.has("value_tile[e] = expf(w[e + j0]);"));
  CHECK_FALSE(twice.has("value_tile_2"));
  CHECK_FALSE(
      staged("const float near = v - w[j];\n    sum += near * near * c[j];").has("value_tile"));
}

TEST_SUITE_END();
