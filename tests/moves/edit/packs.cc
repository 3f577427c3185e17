#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// Where consecutive elements are taken at once although they do not begin at an aligned place, or
// do not step by one.
TEST_SUITE_BEGIN("packs");

namespace {

/// Rows of C elements; `loop` runs over one of them.
KernelSpec rows(std::int64_t columns,
                const std::string& head,
                const std::string& loop,
                const std::string& grid,
                const std::string& block,
                const std::string& out = "float32") {
  const std::string type = out == "uint8" ? "unsigned char" : "float";
  return test::kernel_under_test("extern \"C\" __global__ void rows(" + type +
                                     "* y, const float* x, int N, int C) {\n" + head + "  " + loop +
                                     "\n}\n",
                                 "rows",
                                 {{"y", "output", out, "N * C"},
                                  {"x", "input", "float32", "N * C"},
                                  {"N", "scalar", "", "", 13},
                                  {"C", "scalar", "", "", columns}},
                                 grid, block, 1e-4);
}

const std::string kOfBlock = "  int row = blockIdx.x;\n";
const std::string kOfWarp =
    "  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;\n  if (row >= N) "
    "return;\n";
const std::string kOfThread =
    "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= N) return;\n";

/// `statements` of a thread with the index i below n.
KernelSpec items(const std::string& statements, std::int64_t n = 1003) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void items(float* y, const float* x, int n) {\n  int i = blockIdx.x "
      "* blockDim.x + threadIdx.x;\n  if (i >= n) return;\n" +
          statements + "}\n",
      "items",
      {{"y", "inout", "float32", "4 * n"},
       {"x", "input", "float32", "4 * n + 4"},
       {"n", "scalar", "", "", n}},
      "ceil_div(n, 64)", "64");
}

}  // namespace

TEST_CASE("an address by the array's name is none where the kernel makes it point elsewhere") {
  const std::string loop =
      "for (int j = threadIdx.x; j < C; j += blockDim.x) {\n    const float* p = x + j;\n    y[row "
      "* "
      "C + j] = *p + 1.0f;\n  }";
  const auto packed = [&](const std::string& moved) {
    MovePath path(rows(128, kOfBlock + moved, loop, "N", "32"));
    return path.step("vectorize_global_loads@loop:0(width=4)").runs();
  };
  CHECK(packed("").has("x_pack"));
  CHECK_FALSE(packed("  x += row * C - 1;\n  x += 1;\n").has("x_pack"));
  // What is moved once is another pointer, which points where it says.
  for (const std::string once : {"  x += row * C;\n", "  x = x + row * C;\n"})
    CHECK(packed(once).has("const float* x_at = x + row * C;"));
}

TEST_CASE("a row that starts anywhere has a head of single elements, packs and a tail") {
  for (const auto& [columns, width] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 4}, {130, 8}, {509, 4}}) {
    for (const KernelSpec& spec :
         {rows(columns, kOfBlock,
               "for (int j = threadIdx.x; j < C; j += blockDim.x) y[row * C + j] = 2.0f * x[row * "
               "C + j];",
               "N", "64"),
          rows(columns, kOfWarp,
               "for (int j = lane; j < C; j += 32) {\n    long long at = (long long)row * C + j;\n "
               "   y[at] = 2.0f * x[at];\n  }",
               "ceil_div(N, 4)", "128"),
          rows(columns, kOfThread,
               "for (int j = 0; j < C; ++j) y[row * C + j] = 2.0f * x[row * C + j];",
               "ceil_div(N, 32)", "32"),
          rows(columns, kOfThread,
               "y[row * C] = 0.0f;\n  for (int j = 1; j < C; ++j) y[row * C + j] = x[row * C + j];",
               "ceil_div(N, 32)", "32")}) {
      CAPTURE(spec.source);
      CAPTURE(columns);
      MovePath path(spec);
      path.step("specialise_shape@shape")
          .step("vectorize_global_loads@loop:0(width=" + std::to_string(width) + ")");
      CHECK(path.has("elements before an aligned one"));
      // what is left is short
      for (const std::string& again : path.listed("vectorize_global_loads"))
        CHECK(again.find("@loop:") == std::string::npos);
      path.runs();
    }
  }
}

TEST_CASE("arrays of other element sizes join the packs where they are aligned too") {
  MovePath path(rows(1021, kOfBlock,
                     "for (int j = threadIdx.x; j < C; j += blockDim.x) y[row * C + j] = x[row * C "
                     "+ j] > 0.0f ? 1 : 2;",
                     "N", "64", "uint8"));
  path.step("specialise_shape@shape").step("vectorize_global_loads@loop:0(width=8)");
  CHECK(path.has("x_pack"));
  CHECK(path.has("/ sizeof(unsigned char) % 8"));
  path.runs();
}

TEST_CASE("a row may be the block's number, wherever it stands") {
  MovePath path(rows(512, "",
                     "for (int j = threadIdx.x; j < C; j += blockDim.x) y[blockIdx.x * C + j] = "
                     "x[blockIdx.x * C + j];",
                     "N", "64"));
  path.step("specialise_shape@shape").step("vectorize_global_loads@loop:0(width=4)");
  CHECK(path.has("float4"));
  path.runs();
}

TEST_CASE("lanes must agree where the row starts") {
  const std::string loop = "for (int j = lane; j < C; j += 32) y[row * C + j] = x[row * C + j];";
  MovePath path(rows(509,
                     "  int row = blockIdx.x * 4 + threadIdx.x / 16 % 4, lane = threadIdx.x % "
                     "32;\n  if (row >= N) return;\n",
                     loop, "ceil_div(N, 4)", "128"));
  path.step("specialise_shape@shape");
  CHECK(path.tried("vectorize_global_loads@loop:0(width=4)") == "the body asks for its thread");
  MovePath shifted(rows(509, kOfBlock,
                        "for (int j = threadIdx.x; j < C; j += blockDim.x) y[row * C + j] = x[(row "
                        "* C + threadIdx.x * 2 + j) % (N * C)];",
                        "N", "64"));
  CHECK(shifted.tried("vectorize_global_loads@loop:0(width=4)") == "the body asks for its thread");
}

TEST_CASE("elements side by side that step together are one pack") {
  const auto packed = [](const std::string& statements, const std::vector<std::string>& arrays,
                         const std::string& size) {
    for (const char* const width : {"2", "4"}) {
      for (const std::int64_t n : {1000, 1003}) {
        CAPTURE(statements);
        MovePath path(items(statements, n));
        path.step("specialise_shape@shape")
            .step("vectorize_global_loads@thread(width=" + std::string(width) + ")");
        for (const std::string& array : arrays)
          CHECK(path.has(" " + array + "_pack[PACK" + size + "];"));
        path.runs();
      }
    }
  };
  packed(
      "  float re = x[2 * i], im = x[2 * i + 1];\n  y[2 * i] = re * re - im * im;\n  y[2 * i + 1] "
      "= 2.0f * re * im;\n",
      {"x", "y"}, " * 2");
  packed("  float t = y[2 * i];\n  y[2 * i] = y[2 * i + 1];\n  y[2 * i + 1] = t;\n", {"y"}, " * 2");
  packed("  y[3 * i + 2] = x[3 * i];\n  y[3 * i] = x[3 * i + 2];\n  y[i * 3 + 1] = x[i * 3 + 1];\n",
         {"x", "y"}, " * 3");
  packed(
      "  y[2 * i + 1] = x[i];\n  y[2 * i] = -x[i];\n  if (x[i] > 0.0f) y[2 * i] += y[2 * i + 1];\n",
      {"y"}, " * 2");
  // no store could change a load
  packed("  y[2 * i] = x[i];\n  y[2 * i + 1] = -x[i];\n", {"x"}, "");
}

TEST_CASE("pairs of which a part is left alone are none") {
  const auto refused = [](const std::string& statements) {
    MovePath path(items(statements));
    path.step("specialise_shape@shape");
    return path.tried("vectorize_global_loads@thread(width=4)");
  };
  CHECK(refused("  y[2 * i] = x[2 * i] + y[2 * i + 1];\n") ==
        "y is used where it cannot be a pack");
  CHECK(refused("  y[2 * i] = x[2 * i];\n") ==
        "no access steps by one element with i from aligned places");
  CHECK(refused("  y[2 * i + 1] = x[2 * i + 1];\n  y[2 * i + 2] = x[2 * i + 2];\n") ==
        "no access steps by one element with i from aligned places");
  CHECK(refused("  y[2 * i] = y[2 * i + 2];\n") == "a store to y could change a load of y");
  CHECK(refused("  y[2 * i] = 1.0f;\n  y[2 * i + 4] = 2.0f;\n") ==
        "stores to y stand at two places of it");
}

TEST_CASE("an address of 64 bits stays one") {
  MovePath path(rows(512, kOfBlock,
                     "for (int j = threadIdx.x; j < C; j += blockDim.x) {\n    long long at = "
                     "(long long)row * C + j;\n    y[at] = 2.0f * x[at];\n  }",
                     "N", "64"));
  path.step("specialise_shape@shape").step("vectorize_global_loads@loop:0(width=4)");
  CHECK(path.has("&x[(long long)C * row + j]"));
  path.runs();
}

TEST_SUITE_END();
