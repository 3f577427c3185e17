#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

/// A block of 128 threads writes y[2 * (128 * blockIdx.x + t) ...], with t = threadIdx.x, the
/// element v = x[at], at = 128 * blockIdx.x + t, and whatever `head` declares.
KernelSpec block_of(const std::string& body,
                    const std::string& head = "  __shared__ float p[256];\n",
                    const std::string& y = "float* __restrict__ y") {
  return test::kernel_under_test(
      "extern \"C\" __global__ void share(" + y +
          ", const float* __restrict__ x, int* count, int n) {\n" + head +
          "  int t = threadIdx.x, at = blockIdx.x * 128 + t;\n  float v = x[at];\n" + body + "}\n",
      "share",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"count", "inout", "int32", "4", 0, {{"kind", "zeros"}}},
       {"n", "scalar", "int32", "", 512}},
      "n / 128", "128", 1e-5);
}

/// What becomes of the barriers, in the order of the text: "." stays, "-" goes, "w" is the warp's.
/// Each alone; what the first step makes, all together where there are several, is run.
std::string spare(const KernelSpec& spec) {
  MovePath path(spec);
  path.on_gpu();
  const auto count = [](const std::string& text, const std::string& word) {
    std::size_t out = 0, at = 0;
    for (; (at = text.find(word, at)) != std::string::npos; ++at) ++out;
    return out;
  };
  const std::size_t barriers = count(path.source(), "__syncthreads();");
  std::string out(barriers, '.');
  const std::vector<std::string> steps = path.listed("remove_barriers");
  for (const std::string& step : steps) {
    MovePath once(spec);
    once.on_gpu().step(step);
    if (step == steps.front()) once.runs();
    const std::size_t left = count(once.source(), "__syncthreads();"),
                      warp = count(once.source(), "__syncwarp();");
    if (step.ends_with("@kernel")) continue;
    CHECK(left == barriers - 1);
    out[std::stoul(step.substr(step.find(':') + 1))] = warp > 0 ? 'w' : '-';
  }
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("spare_barriers");

TEST_CASE("a barrier that nothing crosses goes") {
  // other arrays, own elements, reads alone, the end of the kernel
  CHECK(spare(block_of("  p[t] = v;\n  __syncthreads();\n  q[t] = v;\n  __syncthreads();\n  v = "
                       "p[127 - t] + q[127 - t];\n  __syncthreads();\n  y[at] = v;\n",
                       "  __shared__ float p[128], q[128];\n")) == "-.-");
  CHECK(spare(block_of("  p[t] = v;\n  __syncthreads();\n  p[t] += 1.0f;\n  __syncthreads();\n  "
                       "y[at] = p[127 - t];\n")) == "-.");
  CHECK(spare(block_of("  p[t] = v;\n  __syncthreads();\n  v = p[t ^ 1];\n  __syncthreads();\n  v "
                       "+= p[t ^ 3];\n  y[at] = v;\n")) == ".-");
  // parts of an array that do not meet
  CHECK(spare(block_of("  p[t] = v;\n  __syncthreads();\n  p[128 + t] = 2 * v;\n  "
                       "__syncthreads();\n  y[at] = p[127 - t] + p[255 - t];\n")) == "-.");
  // the same thread, whatever the loop's variable
  CHECK(spare(block_of("  for (int k = 0; k < 2; ++k) p[t + 128 * k] = v;\n  __syncthreads();\n  "
                       "for (int k = 0; k < 2; ++k) v += p[t + 128 * k];\n  y[at] = v;\n")) == "-");
  // two in a row
  CHECK(spare(block_of("  p[t] = v;\n  __syncthreads();\n  __syncthreads();\n  y[at] = p[127 - "
                       "t];\n")) == "--");
}

TEST_CASE("of two barriers in a row one stays") {
  MovePath path(
      block_of("  p[t] = v;\n  __syncthreads();\n  __syncthreads();\n  y[at] = p[127 - "
               "t];\n"));
  path.on_gpu().step("remove_barriers@kernel").runs();
  CHECK(path.has("__syncthreads();"));
  CHECK(path.listed("remove_barriers").empty());
  CHECK(path.tried("remove_barriers@barrier:0").find("threads may meet at p") != std::string::npos);
}

TEST_CASE("a loop's last barrier protects the next iteration") {
  const std::string use =
      "  float sum = 0.0f;\n  for (int k = 0; k < 3; ++k) {\n    p[t] = v + k;\n    "
      "__syncthreads();\n    sum += p[127 - t];\n";
  CHECK(spare(block_of(use + "    __syncthreads();\n  }\n  y[at] = sum;\n")) == "..");
  CHECK(spare(block_of(use + "  __syncthreads();\n    __syncthreads();\n  }\n  y[at] = sum;\n")) ==
        ".--");
  // the next iteration has a barrier before it writes
  CHECK(spare(block_of("  float sum = 0.0f;\n  for (int k = 0; k < 3; ++k) {\n    "
                       "__syncthreads();\n    p[t] = v + k;\n    __syncthreads();\n    sum += "
                       "p[127 - t];\n    __syncthreads();\n  }\n  y[at] = sum;\n")) == "-.-");
  // behind the loop the array is written again, and the loop may run not at all
  CHECK(spare(block_of("  p[t] = v;\n  for (int k = 0; k < n - 512; ++k) {\n    "
                       "__syncthreads();\n    v += p[127 - t];\n  }\n  __syncthreads();\n  p[127 - "
                       "t] = v;\n  __syncthreads();\n  y[at] = p[t];\n")) == "...");
  // a tile used again
  CHECK(spare(block_of("  for (int k = 0; k < 2; ++k) {\n    p[t] = v;\n    q[t] = v;\n    "
                       "__syncthreads();\n    v = p[127 - t] + q[t];\n    __syncthreads();\n  }\n  "
                       "y[at] = v;\n",
                       "  __shared__ float p[128], q[128];\n")) == "..");
}

TEST_CASE("double buffers need one barrier an iteration") {
  CHECK(spare(block_of("  for (int k = 0; k < 4; ++k) {\n    b[k % 2][t] = v;\n    "
                       "__syncthreads();\n    v += b[k % 2][127 - t];\n  }\n  y[at] = v;\n",
                       "  __shared__ float b[2][128];\n")) == ".");
  // one element of the thread's own in each half
  CHECK(spare(block_of("  for (int k = 0; k < 4; ++k) {\n    b[k % 2][t] = v;\n    "
                       "__syncthreads();\n    v += b[k % 2][t];\n  }\n  y[at] = v;\n",
                       "  __shared__ float b[2][128];\n")) == "-");
}

TEST_CASE("a loop that is left early, and branches, may lead past a barrier") {
  CHECK(spare(block_of("  for (int k = 0; k < 3; ++k) {\n    p[t] = v;\n    __syncthreads();\n    "
                       "if (k == 1) break;\n    v = p[127 - t];\n    __syncthreads();\n  }\n  "
                       "y[at] = p[127 - t] + v;\n")) == "..");
  CHECK(spare(block_of("  p[t] = v;\n  __syncthreads();\n  if (n > 100) {\n    v = 2.0f;\n    "
                       "__syncthreads();\n  }\n  y[at] = p[127 - t];\n")) == ".-");
  CHECK(
      spare(block_of("  p[t] = v;\n  if (n > 100) __syncthreads();\n  __syncthreads();\n  y[at] = "
                     "p[127 - t];\n")) == "-.");
  // the loop in front of it ends without a barrier
  CHECK(spare(block_of("  for (int k = 0; k < 2; ++k) {\n    __syncthreads();\n    p[t] = v;\n  }\n"
                       "  __syncthreads();\n  y[at] = p[127 - t];\n"))[1] == '.');
}

TEST_CASE("threads of one warp wait for the warp alone") {
  const std::string tree =
      "  p[t] = v;\n  __syncthreads();\n  if (t < 64) p[t] += p[t + 64];\n  __syncthreads();\n  if "
      "(t "
      "< 32) p[t] += p[t + 32];\n  __syncthreads();\n  if (t < 16) p[t] += p[t + 16];\n  "
      "__syncthreads();\n  if (t < 8) p[t] += p[t + 8];\n  __syncthreads();\n  y[at] = ";
  CHECK(spare(block_of(tree + "t < 8 ? p[t] : v;\n")) == "..ww-");
  CHECK(spare(block_of(tree + "t < 8 ? p[0] : v;\n")) == "..www");
  CHECK(spare(block_of(tree + "p[t % 8];\n")) == "..ww.");
  CHECK(spare(block_of("  if (t == 0) p[0] = v;\n  __syncthreads();\n  if (t == 0) v = p[0];\n  "
                       "y[at] = v;\n")) == "-");
  CHECK(spare(block_of("  if (t == 0) p[0] = v;\n  __syncthreads();\n  if (t == 1) v = p[0];\n  "
                       "y[at] = v;\n")) == "w");
  CHECK(spare(block_of("  if (t == 0) p[0] = v;\n  __syncthreads();\n  if (t == 32) v = p[0];\n  "
                       "y[at] = v;\n")) == ".");
}

TEST_CASE("shared variables and structs are memory like any other") {
  CHECK(spare(block_of("  if (t == 0) most = v;\n  __syncthreads();\n  y[at] = most + v;\n",
                       "  __shared__ float most;\n")) == ".");
  CHECK(spare(block_of("  if (t == 0) most = v;\n  __syncthreads();\n  if (t == 0) v = most;\n  "
                       "y[at] = v;\n",
                       "  __shared__ float most;\n")) == "-");
  CHECK(spare(block_of("  if (t == 0) most.a = v;\n  __syncthreads();\n  y[at] = most.a + v;\n",
                       "  struct Pair { float a, b; };\n  __shared__ Pair most;\n")) == ".");
  CHECK(spare(block_of("  two[t].a = v;\n  __syncthreads();\n  two[t].b = v;\n  __syncthreads();\n "
                       " y[at] = two[127 - t].a;\n",
                       "  struct Pair { float a, b; };\n  __shared__ Pair two[128];\n")) == "-.");
}

TEST_CASE("pointers to the same memory are the same memory") {
  CHECK(spare(block_of("  float* r = p + 1;\n  p[t] = v;\n  __syncthreads();\n  y[at] = t < 127 ? "
                       "r[t] : v;\n")) == ".");
  CHECK(spare(block_of("  float* r = t > 64 ? p : p + 1;\n  p[t] = v;\n  __syncthreads();\n  y[at] "
                       "= t < 127 ? r[t] : v;\n")) == ".");
  CHECK(spare(block_of("  volatile float* r = p;\n  p[t] = v;\n  __syncthreads();\n  y[at] = r[127 "
                       "- t];\n")) == ".");
  CHECK(spare(block_of("  float4* r = reinterpret_cast<float4*>(p);\n  p[t] = v;\n  "
                       "__syncthreads();\n  y[at] = t < 32 ? r[t].y : v;\n")) == ".");
  CHECK(spare(block_of("  Pair* r = two;\n  if (t == 0) r->a = v;\n  __syncthreads();\n  y[at] = "
                       "two[0].a;\n",
                       "  struct Pair { float a, b; };\n  __shared__ Pair two[128];\n")) == ".");
  CHECK(spare(block_of("  float& r = most;\n  if (t == 0) r = v;\n  __syncthreads();\n  y[at] = "
                       "most;\n",
                       "  __shared__ float most;\n")) == ".");
  // global memory of the block
  CHECK(spare(block_of("  y[at] = v;\n  __syncthreads();\n  v = y[at - t + 127 - t];\n  "
                       "__syncthreads();\n  y[at] = v;\n")) == "..");
  CHECK(spare(block_of("  y[at] = v;\n  __syncthreads();\n  y[at] += 1.0f;\n")) == "-");
}

TEST_CASE("dynamic arrays are one") {
  KernelSpec spec = block_of(
      "  if (t == 0) p[0] = v;\n  __syncthreads();\n  if (t == 1) y[at] = "
      "q[0];\n",
      "  extern __shared__ float p[];\n  extern __shared__ float q[];\n");
  CHECK(MovePath(spec).on_gpu().listed("remove_barriers").empty());
}

TEST_CASE("barriers order what blocks say to each other") {
  CHECK(spare(block_of("  y[at] = v;\n  __syncthreads();\n  if (t == 0) atomicAdd(count, 1);\n")) ==
        ".");
  CHECK(spare(block_of("  y[at] = v;\n  __threadfence();\n  __syncthreads();\n  if (t == 0) "
                       "count[0] = 1;\n")) == ".");
  // atomics of the block's own memory
  CHECK(
      spare(block_of("  if (t < 4) c[t] = 0;\n  __syncthreads();\n  atomicAdd(&c[t % 4], 1);\n  "
                     "__syncthreads();\n  atomicAdd(&c[t % 2], 1);\n  __syncthreads();\n  y[at] = "
                     "c[t % 4];\n",
                     "  __shared__ int c[4];\n")) == ".-.");
}

TEST_CASE("a barrier that constants leave out is nobody's") {
  CHECK(spare(block_of("  if (N > 256) {\n    p[t] = v;\n    __syncthreads();\n  }\n  y[at] = v;\n",
                       "#define N 128\n  __shared__ float p[128];\n")) == ".");
}

TEST_CASE("what is not followed keeps its barriers") {
  const std::string body = "  p[t] = v;\n  __syncthreads();\n  y[at] = v;\n";
  CHECK(spare(block_of(body)) == "-");
  CHECK(spare(block_of(body, "  __shared__ volatile float p[128];\n")) == ".");
  CHECK(spare(block_of("  p[t] = v;\n  SYNC;\n  q[t] = v;\n  __syncthreads();\n  y[at] = p[127 - "
                       "t];\n",
                       "#define SYNC __syncthreads()\n  __shared__ float p[128], q[128];\n"))
            .find('-') == std::string::npos);
}

TEST_SUITE_END();
