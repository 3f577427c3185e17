#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

struct Sizes {
  std::int64_t planes = 5, height = 12, width = 16;
};

/// A thread an element of images that follow each other; `body` is what stands behind the guard.
KernelSpec images(const std::string& body, const Sizes& sizes = {}, const std::string& tail = "") {
  return test::kernel_under_test(
      "extern \"C\" __global__ void images(float* o, const float* in, const float* t, int planes, "
      "int h, int w) {\n  int idx = blockIdx.x * blockDim.x + threadIdx.x;\n  if (idx >= planes * "
      "h * w) return;\n" +
          body + "}\n" + tail,
      "images",
      {{"o", "output", "float32", "planes * h * w"},
       {"in", "input", "float32", "planes * h * w"},
       {"t", "input", "float32", "h * w"},
       {"planes", "scalar", "", "", sizes.planes},
       {"h", "scalar", "", "", sizes.height},
       {"w", "scalar", "", "", sizes.width}},
      "ceil_div(planes * h * w, 64)", "64", 1e-4);
}

/// A thread an element of a plane, planes along the grid's last axis.
KernelSpec planes_of_grid(const std::string& body, std::int64_t planes = 6) {
  KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void images(float* o, const float* in, const float* t, int planes, "
      "int h, int w) {\n  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * "
      "blockDim.y + threadIdx.y;\n" +
          body + "}\n",
      "images",
      {{"o", "output", "float32", "planes * h * w"},
       {"in", "input", "float32", "planes * h * w"},
       {"t", "input", "float32", "h * w"},
       {"planes", "scalar", "", "", planes},
       {"h", "scalar", "", "", 13},
       {"w", "scalar", "", "", 21}},
      "ceil_div(w, 8)", "8", 1e-4);
  spec.io.launch.grid[1] = Expression::parse("ceil_div(h, 8)", "test");
  spec.io.launch.grid[2] = Expression::parse("planes", "test");
  spec.io.launch.block[1] = Expression(8);
  std::get<ReferenceKernel>(spec.reference).launch = spec.io.launch;
  return spec;
}

/// Blends four neighbours with weights that depend on the place alone.
const std::string kBlend =
    "  int x = idx % w;\n"
    "  int y = idx / w % h;\n"
    "  int p = idx / (w * h);\n"
    "  float fx = fminf(x * 0.7f, w - 1.0f), fy = fminf(y * 0.6f, h - 1.0f);\n"
    "  int x0 = (int)fx, y0 = (int)fy;\n"
    "  const float* plane = in + p * h * w;\n"
    "  float a = plane[y0 * w + x0], b = plane[y0 * w + min(x0 + 1, w - 1)];\n"
    "  o[idx] = (a + (b - a) * (fx - x0)) * (fy - y0 + 1.0f);\n";

/// Turns pairs by an angle of position and pair, alike for all heads and batches.
KernelSpec rotations(const std::string& angle) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void rotate(float* q, const float* k, int batch, int heads, int "
      "length, int half) {\n"
      "  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < (long long)batch * heads * length * half) {\n"
      "    int d = i % half;\n"
      "    long long row = i / half;\n"
      "    int position = row % length;\n" +
          angle +
          "    float u = k[row * 2 * half + d], v = k[row * 2 * half + d + half];\n"
          "    q[row * 2 * half + d] = u * c - v * s;\n"
          "    q[row * 2 * half + d + half] = u * s + v * c;\n"
          "  }\n}\n",
      "rotate",
      {{"q", "output", "float32", "batch * heads * length * half * 2"},
       {"k", "input", "float32", "batch * heads * length * half * 2"},
       {"batch", "scalar", "", "", 2},
       {"heads", "scalar", "", "", 3},
       {"length", "scalar", "", "", 16},
       {"half", "scalar", "", "", 8}},
      "ceil_div(batch * heads * length * half, 64)", "64", 1e-4);
}

}  // namespace

TEST_SUITE_BEGIN("outer_loops");

TEST_CASE("places and weights of a plane's point are computed once for several planes") {
  MovePath path(images(kBlend));
  path.step("register_block@outer(points=2)").runs();
  INFO(path.source());
  const std::size_t loop = path.source().find("for (int u");
  CHECK(path.source().find("int x0 = ") < loop);
  CHECK(path.source().find("int p = outer;") > loop);
  CHECK(path.has("if (idx >= INNER) return;"));
  CHECK(path.has("if (outer >= 5) break;"));
  CHECK(path.has("o[full_idx]"));
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(192, 64)");
  CHECK(path.variant().launch.grid[1].text() == "ceil_div(5, 2)");
}

TEST_CASE("planes that the points divide need no test") {
  for (const std::int64_t points : {2, 3, 8}) {
    CAPTURE(points);
    MovePath path(images(kBlend, {24, 8, 16}));
    path.step("register_block@outer(points=" + std::to_string(points) + ")").runs();
    CHECK(!path.has("break;"));
  }
}

TEST_CASE("a plane that fills no block shares one with others") {
  MovePath path(images(kBlend, {7, 6, 7}));
  path.step("register_block@outer(points=2)").runs();
  INFO(path.source());
  CHECK(path.has("const int idx = thread % INNER;"));
}

TEST_CASE("the flat index is taken apart in other words") {
  for (const std::string coordinates :
       {"  int p = idx / (h * w), rest = idx - p * (h * w), y = rest / w, x = rest - y * w;\n",
        "  int rows = idx / w;\n  int x = idx - rows * w;\n  int y = rows % h;\n  int p = rows / "
        "h;\n",
        "  const int x = idx & 15, y = (idx >> 4) % h, p = (idx >> 4) / h;\n"}) {
    MovePath path(images(
        coordinates +
        "  float weight = expf(-0.1f * x) * y;\n  o[idx] = in[(p * h + y) * w + x] * weight;\n"));
    path.step("register_block@outer(points=4)").runs();
    INFO(path.source());
    CHECK(path.source().find("float weight") < path.source().find("for (int u"));
  }
}

TEST_CASE("a load that all planes share stands before the loop") {
  MovePath path(
      images("  int c = idx / w % h;\n  float v = in[idx] + t[c];\n"
             "  o[idx] = v > 0.0f ? v : 0.01f * v;\n"));
  path.step("register_block@outer(points=2)").runs();
  INFO(path.source());
  CHECK(path.has("const float t_here = t[c];"));
  CHECK(path.has("float v = in[full_idx] + t_here;"));
}

TEST_CASE("angles are computed once for several heads") {
  for (const std::string angle :
       {"    float angle = position * powf(10000.0f, -(float)d / half);\n"
        "    float s = sinf(angle), c = cosf(angle);\n",
        "    const float angle = position * powf(10000.0f, -(float)d / half), s = sinf(angle),\n"
        "                c = cosf(angle);\n"}) {
    MovePath path(rotations(angle));
    path.step("register_block@outer(points=2)").runs();
    INFO(path.source());
    CHECK(path.source().find("powf(") < path.source().find("for (int u"));
    CHECK(path.has("long long row = i / half + outer * "));
  }
}

TEST_CASE("planes along the grid's last axis") {
  const std::string body =
      "  int p = blockIdx.z;\n  if (x >= w || y >= h || p >= planes) return;\n"
      "  float fx = sqrtf(x + 0.5f * y);\n  int at = y * w + x;\n"
      "  o[(p * h + y) * w + x] = in[p * h * w + at] * fx + t[at];\n";
  for (const std::int64_t planes : {6, 7}) {
    CAPTURE(planes);
    MovePath path(planes_of_grid(body, planes));
    path.step("specialise_shape@shape").step("register_block@outer(points=3)").runs();
    INFO(path.source());
    CHECK(path.source().find("float fx") < path.source().find("for (int u"));
    CHECK(path.has("int p = outer;"));
    CHECK(path.has("if (x >= w) return;"));
    CHECK(path.has("const float t_here = t[at];"));
    CHECK(path.has("if (outer >= 7) break;") == (planes == 7));
    CHECK(path.variant().launch.grid[2].text() == "ceil_div(planes, 3)");
  }
  MovePath direct(planes_of_grid(
      "  if (x < w && y < h) {\n    float fx = sqrtf(x + 0.5f * y);\n    o[(blockIdx.z * h + y) * "
      "w + x] = in[(blockIdx.z * h + y) * w + x] * fx;\n  }\n"));
  direct.step("register_block@outer(points=2)").runs();
  INFO(direct.source());
  CHECK(direct.has("o[(outer * h + y) * w + x]"));
}

TEST_CASE("neighbours in one store, their places once for several planes") {
  for (const std::int64_t planes : {4, 5}) {
    MovePath path(images(kBlend, {planes, 16, 16}));
    path.step("vectorize_global_loads@thread(width=4)")
        .step("register_block@outer(points=2)")
        .runs();
    INFO(path.source());
    const std::size_t loop = path.source().find("for (int u");
    CHECK(path.has("int x0[4];"));
    CHECK(path.source().find("x0[v] = (int)fx") < loop);
    CHECK(path.source().find("alignas(16) float o_pack[PACK];") > loop);
    CHECK(path.has("reinterpret_cast<float4*>(&o[full_idx])"));
  }
}

TEST_CASE("a variable that is changed on the way keeps its order") {
  MovePath path(
      images("  int x = idx % w;\n  int p = idx / (w * h);\n  float s = sinf(x);\n"
             "  float first = in[idx] * s;\n  s = s * 2.0f;\n"
             "  o[idx] = first + s * p;\n"));
  path.step("register_block@outer(points=2)").runs();
  INFO(path.source());
  CHECK(path.source().find("s = s * 2.0f") > path.source().find("for (int u"));
}

TEST_CASE("a point that leaves early goes on to the next") {
  MovePath path(
      images("  int x = idx % (h * w);\n  float s = sinf(x);\n  float v = in[idx];\n"
             "  o[idx] = 0.0f;\n  if (v < 0.0f) return;\n  o[idx] = v * s;\n"));
  path.step("register_block@outer(points=2)").runs();
  CHECK(path.has("if (v < 0.0f) continue;"));
  MovePath by_index(
      images("  int x = idx % (h * w);\n  float s = sinf(x);\n  o[idx] = 0.0f;\n"
             "  if (x % 3 == 0) return;\n  o[idx] = in[idx] * s;\n"));
  by_index.step("register_block@outer(points=2)").runs();
  CHECK(by_index.has("if (x % 3 == 0) continue;"));
}

TEST_CASE("kernels without work to share, or whose points are not alone, are left") {
  const auto refusal = [](const KernelSpec& spec, const std::string& points = "2") {
    return MovePath(spec).tried("register_block@outer(points=" + points + ")");
  };
  CHECK(refusal(images("  int p = idx / (h * w);\n  o[idx] = in[idx] * t[p];\n"))
            .find("nothing that takes time") == 0);
  CHECK(refusal(images("  o[idx] = in[idx] * 2.0f;\n")).find("the index is not divided") == 0);
  CHECK(refusal(images(kBlend, {3, 8, 8}), "8").find("there are fewer outer indices") == 0);
  CHECK(refusal(images("  __shared__ float kept[64];\n  kept[threadIdx.x] = in[idx];\n"
                       "  o[idx] = kept[threadIdx.x] * sinf(idx % (h * w));\n"))
            .find("the kernel uses shared memory") == 0);
  CHECK(refusal(images("  o[idx] = in[idx] * sinf(idx % (h * w)) + threadIdx.x;\n"))
            .find("the kernel uses its place in the launch") == 0);
  CHECK(refusal(images("  o[idx] = in[idx] * sinf(idx % (h * w)) + gridDim.x * 0.0f;\n"))
            .find("the kernel asks for its grid") == 0);
  CHECK(refusal(images(
            "  int x = idx % (h * w);\n  in += idx / (h * w);\n  in -= 1;\n  o[idx] = in[1] * "
            "sinf(x);\n")) == "in would go from one point to the next");
  CHECK(MovePath(images("  o[idx] = in[idx] * 2.0f;\n")).listed("register_block").size() == 3);
}

TEST_SUITE_END();
