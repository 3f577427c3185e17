#include <doctest/doctest.h>

#include <array>
#include <string>

#include "tests/moves/normal/normal_kernels.h"

using namespace warpath;
using test::kIndex;
using test::Normal;
using test::refused;

// One name for one value, and one way out of the kernel: run against the kernel as it was.
TEST_SUITE_BEGIN("normalise_values");

TEST_CASE("a copy of the thread's index goes by the index's name") {
  const Normal k("", kIndex + "  int sample = i;\n  if (sample < n) y[sample] = x[sample];\n");
  CHECK(k.why.empty());
  CHECK(k.has("if (i < n) y[i] = x[i];"));
  CHECK_FALSE(k.has("sample"));
}

TEST_CASE("a copy that changes, or whose index does, is a variable of its own") {
  const std::string rest = "  if (i < n) y[i] = x[s % n];\n";
  CHECK_FALSE(refused("", kIndex + "  int s = i;\n  s += 3;\n" + rest).empty());
  CHECK_FALSE(
      refused("",
              "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int s = i;\n  i += 1;\n  "
              "i -= 1;\n" +
                  rest)
          .empty());
  CHECK_FALSE(refused("", kIndex + "  long s = i;\n" + rest).empty());
  CHECK_FALSE(refused("", kIndex +
                              "  int s = i;\n  if (i < n) {\n    int i = 0;\n    y[s] = x[s] + i;\n"
                              "  }\n")
                  .empty());
}

TEST_CASE("a pointer that is moved once is another pointer from there on") {
  const Normal k("", kIndex +
                         "  if (i < n) {\n    float first = x[0];\n    x += i;\n    y += i;\n"
                         "    *y = x[0] + first;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("const float* x_at = x + i;"));
  CHECK(k.has("float* y_at = y + i;"));
  CHECK(k.has("*y_at = x_at[0] + first;"));
  const Normal set("", kIndex + "  if (i < n) {\n    x = &x[n - 1 - i];\n    y[i] = *x;\n  }\n");
  CHECK(set.has("const float* x_at = &x[n - 1 - i];"));
  const Normal back("", kIndex + "  if (i < n) {\n    x -= i - n + 1;\n    y[i] = *x;\n  }\n");
  CHECK(back.has("const float* x_at = x - (i - n + 1);"));
}

TEST_CASE("a pointer that moves on, or that more than one place sees moved, keeps its name") {
  CHECK_FALSE(
      refused("", kIndex + "  if (i < n) {\n    x += i;\n    y[i] = *x;\n    x -= i;\n  }\n")
          .empty());
  CHECK_FALSE(refused("", kIndex +
                              "  float s = 0;\n  for (int j = 0; j < 2; ++j) {\n    x += j;\n    "
                              "s += x[0];\n  }\n  if (i < n) y[i] = s;\n")
                  .empty());
  CHECK_FALSE(
      refused("", kIndex + "  if (i > 0) {\n    x += i % 2;\n  }\n  if (i < n) y[i] = x[0];\n")
          .empty());
}

TEST_CASE("what a loop moves on by the same amount is counted from its start") {
  const Normal k("", kIndex +
                         "  if (i < n) {\n    const float* p = x + i % 100;\n    float s = 0;\n"
                         "    for (int j = 0; j < 4; ++j) {\n      s += *p;\n      p += 7;\n"
                         "    }\n    y[i] = s;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("const float* p_at = p + static_cast<long long>(j) * 7;\n      s += *p_at;\n    }"));
  const Normal step("", kIndex +
                            "  if (i < n) {\n    const float* p = x + i % 100 + 50;\n"
                            "    float s = 0;\n    for (int j = 0; j < 4; j++, p -= n / 100)\n"
                            "      s += *p;\n    y[i] = s;\n  }\n");
  CHECK(step.has("for (int j = 0; j < 4; j++)"));
  CHECK(step.has("const float* p_at = p - static_cast<long long>(j) * (n / 100);"));
  const Normal by_one("", kIndex +
                              "  if (i < n) {\n    const float* p = x + i % 100;\n"
                              "    float s = 0;\n    for (int j = 2; j < 11; j++) {\n"
                              "      s += *p * j;\n      ++p;\n    }\n    y[i] = s;\n  }\n");
  CHECK(by_one.has("const float* p_at = p + (j - 2);"));
  const Normal thirds("", kIndex +
                              "  if (i < n) {\n    int at = i % 100;\n    float s = 0;\n"
                              "    for (int j = -2; j < 8; j += 3) {\n      s += x[at] * j;\n"
                              "      at += 6;\n    }\n    y[i] = s;\n  }\n");
  CHECK(thirds.has("const int at_at = at + ((j + 2) / 3) * 6;"));
  const Normal wide("", kIndex +
                            "  if (i < n) {\n    unsigned long at = i % 100;\n    float s = 0;\n"
                            "    for (int j = 0; j < 4; ++j) {\n      s += x[at];\n"
                            "      at += n / 10 - 3;\n    }\n    y[i] = s;\n  }\n");
  CHECK(wide.has("const unsigned long at_at = at + static_cast<unsigned long"));
  const Normal nested("", kIndex +
                              "  if (i < n) {\n    float s = 0;\n"
                              "    for (int k = 0; k < 3; ++k) {\n      int at = i % 100 + k;\n"
                              "      for (int j = 0; j < 4; ++j) {\n        s += x[at];\n"
                              "        at += 5;\n      }\n    }\n    y[i] = s;\n  }\n");
  CHECK(nested.has("const int at_at = at + j * 5;"));
}

TEST_CASE("a thread's index that its loop moves on stays the thread's index") {
  Normal k("",
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n / 10) return;\n"
           "  int from = n - 1 - i;\n"
           "  for (int b = 0; b < 10; ++b) {\n    y[i] = 2 * x[from];\n    i += n / 10;\n"
           "    from -= n / 10;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("y[i_at] = 2 * x[from_at];"));
  const auto flat = k.path.listed("flatten_parallel_loop");
  REQUIRE_FALSE(flat.empty());
  k.path.step(flat.front()).runs();
}

TEST_CASE("what is seen moved, or not moved by the same in every iteration, moves on") {
  const auto stays = [](const std::string& body) {
    const std::string why =
        refused("", kIndex + "  if (i < n) {\n    int at = i % 50 + 9;\n    float s = 0;\n" + body +
                        "    y[i] = s;\n  }\n");
    CHECK_FALSE(why.empty());
  };
  const std::string head = "    for (int j = 0; j < 4; ++j) {\n";
  stays(head + "      s += x[at];\n      at += 3;\n    }\n    s += x[at];\n");
  stays(head + "      at += 3;\n      s += x[at];\n    }\n");
  stays(head + "      s += x[at];\n      if (s > 0) at += 3;\n    }\n");
  stays(head + "      s += x[at];\n      at += j;\n    }\n");
  stays(head + "      s += x[at];\n      if (s > 1) continue;\n      at += 3;\n    }\n");
  stays(head + "      s += x[at];\n      at += 3;\n      at += 1;\n    }\n");
  stays(head + "      const int w = 3;\n      s += x[at];\n      at += w;\n    }\n");
  stays("    int* other = &at;\n" + head + "      s += x[*other];\n      at += 3;\n    }\n");
  stays("    int& other = at;\n" + head + "      s += x[other];\n      at += 3;\n    }\n");
  stays("    float t = 1.5f;\n" + head + "      s += t;\n      t += 0.1f;\n    }\n");
  stays("    unsigned char c = 250;\n" + head + "      s += c;\n      c += 3;\n    }\n");
  stays("    for (int k = 0; k < 2; ++k) {\n" + head +
        "      s += x[at];\n      at += 3;\n    }\n    }\n");
  stays("    for (int j = 0; at + j < 70; ++j) {\n      s += x[at];\n      at += 3;\n    }\n");
}

TEST_CASE("a second index that every iteration sets to the first is declared in the body") {
  const std::string loop =
      "#define KERNEL_LOOP(i, n) long at = blockIdx.x * blockDim.x + threadIdx.x; "
      "for (int i = at; at < (n); at += blockDim.x * gridDim.x, i = at)\n";
  const Normal k(
      loop,
      "  KERNEL_LOOP(i, n) {\n    int c = i % 5;\n    i /= 5;\n    y[i * 5 "
      "+ c] = 1.0f;\n    if (c == 2) continue;\n    y[i * 5 + c] = x[i * 5 + c];\n  }\n");
  CHECK(k.why.empty());
  CHECK(
      k.has("for (long at_2 = at; at_2 < (n); at_2 += blockDim.x * gridDim.x) {\n    int i = "
            "at_2;\n    int c = i % 5;"));
  const Normal line(loop, "  KERNEL_LOOP(i, n) y[i] = x[i] + 1.0f;\n");
  CHECK(line.has("{\n    int i = at_2;\n    y[i] = x[i] + 1.0f;\n  }"));
}

TEST_CASE("an index that is set otherwise, or whose address is kept, stays") {
  const auto kept = [](const std::string& head, const std::string& body) {
    const Normal k("", "  long at = blockIdx.x * blockDim.x + threadIdx.x;\n  " + head + " {\n" +
                           body + "  }\n");
    return k.has(head);
  };
  const std::string body = "    y[i % n] = x[i % n];\n";
  CHECK_FALSE(kept("for (int i = at; at < n; at += blockDim.x * gridDim.x, i = at)", body));
  CHECK(kept("for (int i = at; at < n; at += blockDim.x * gridDim.x, i = at + 1)", body));
  CHECK(kept("for (int i = at; at < n; i = at, at += blockDim.x * gridDim.x)", body));
  CHECK(kept("for (int i = 0; at < n; at += blockDim.x * gridDim.x, i = at)", body));
  CHECK(kept("for (int i = at; at < n && i >= 0; at += blockDim.x * gridDim.x, i = at)", body));
  CHECK(kept("for (int i = at; at < n; at += blockDim.x * gridDim.x, i = at)",
             "    int* p = &i;\n    y[*p] = x[*p];\n"));
}

TEST_CASE("an early return inside a guard is an if around what follows it") {
  const Normal k(
      "", kIndex +
              "  if (i < n) {\n    const float v = x[i];\n    y[i] = 0.0f;\n    if (i > n - 3 || "
              "i == 4) return;\n    // kept\n    y[i] = v;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("    if (i <= n - 3 && i != 4) {\n      // kept\n      y[i] = v;\n    }\n"));
  // of numbers that may be none neither x < 0 nor x >= 0 holds
  const Normal none(
      "", kIndex +
              "  if (i < n) {\n    y[i] = 0.0f;\n    if (x[i] > 0.0f) return;\n    y[i] = 2.0f;\n"
              "  }\n");
  CHECK(none.has("if (!(x[i] > 0.0f)) {"));
}

TEST_CASE("a return with more to skip than its block stays") {
  CHECK_FALSE(refused("", kIndex +
                              "  if (i < n) {\n    if (i == 3) return;\n    y[i] = x[i];\n  }\n  "
                              "if (i < n) y[i] += 1.0f;\n")
                  .empty());
  CHECK_FALSE(refused("", kIndex + "  for (int j = 0; j < 2; ++j) {\n    if (i >= n) return;\n    "
                                   "y[i] = x[i] + j;\n  }\n")
                  .empty());
  CHECK_FALSE(refused("", kIndex + "  if (i >= n) return;\n  y[i] = x[i];\n").empty());
}

TEST_CASE("what a statement adds that the launch makes 0 is not added") {
  const Normal k(
      "",
      "  long i = blockIdx.x * blockDim.x + threadIdx.x;\n  i += threadIdx.y + blockDim.y * "
      "(blockDim.x * gridDim.x) * blockIdx.y;\n  if (i >= n) return;\n  y[i] = x[i];\n");
  CHECK(k.why.empty());
  CHECK_FALSE(k.has("threadIdx.y"));
  CHECK_FALSE(k.has("gridDim"));
  const std::string rest = "  if (i < n) y[i] = x[i % n];\n";
  CHECK_FALSE(refused("", kIndex + "  i += blockIdx.x - blockIdx.x / 2 * 2;\n" + rest).empty());
  CHECK_FALSE(refused("", kIndex + "  i += blockIdx.y + n;\n  i -= n;\n" + rest).empty());
  // the grid has a second row
  KernelSpec rows = test::helped_spec("",
                                      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  i += "
                                      "blockIdx.y * 512;\n  if (i < n) y[i] = x[i];\n");
  rows.io.launch.grid[0] = Expression(8);
  for (const int count : {1, 2}) {
    rows.io.launch.grid[1] = Expression(count);
    test::MovePath path(rows);
    CHECK(path.on_gpu().tried("normalise@kernel").empty() == (count == 1));
    CHECK(path.has("blockIdx.y") == (count == 2));
  }
}

namespace {

const std::string kTree =
    "  for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n    if (t < s) part[t] += part[t + s];\n    "
    "__syncthreads();\n  }\n  if (i < n) y[i] = part[0] + x[i];\n";

std::string summing(const std::string& adds) {
  return "  __shared__ float part[64];\n  int t = threadIdx.x;\n" + kIndex + adds +
         "  __syncthreads();\n" + kTree;
}

}  // namespace

TEST_CASE("an element of shared memory that a thread adds to alone is its variable until then") {
  const Normal k("", summing("  part[t] = 0;\n  for (int j = t; j < n; j += blockDim.x) part[t] += "
                             "x[j];\n  part[t] *= 0.5f;\n"));
  CHECK(k.why.empty());
  CHECK(k.has("  float part_own = 0;\n"));
  CHECK(k.has("part_own += x[j];"));
  CHECK(k.has("  part_own *= 0.5f;\n  part[threadIdx.x] = part_own;\n  __syncthreads();\n"));
  CHECK(k.has("if (t < s) part[t] += part[t + s];"));
  const Normal two("", "  __shared__ float more[64];\n" +
                           summing("  more[t] = part[t] = 0;\n  for (int j = t; j < n; j += "
                                   "blockDim.x) {\n    part[t] += x[j];\n    more[t] += 1;\n  }\n  "
                                   "part[t] += more[t];\n"));
  CHECK(two.has("  float more_own = 0;\n"));
  CHECK(two.has("  float part_own = 0;\n"));
  CHECK(two.has("part_own += more_own;"));
}

TEST_CASE("an element that others may see, or that is not set first, stays in shared memory") {
  const std::string adds = "  for (int j = t; j < n; j += blockDim.x) part[t] += x[j];\n";
  const auto stays = [](const std::string& text) { CHECK_FALSE(refused("", text).empty()); };
  stays(summing("  part[t] = 0;\n  if (t == 63) return;\n" + adds));
  stays(summing("  part[t] = 0;\n  __syncwarp();\n" + adds));
  stays(summing("  part[t] = 0;\n" + adds + "  part[t] += part[t ^ 1];\n"));
  stays(summing("  part[63 - t] = 0;\n" + adds));
  stays(summing("  if (t < 64) part[t] = 0;\n" + adds));
  stays(summing("  part[t] = x[t];\n"));
  stays("  __shared__ volatile float part[64];\n  int t = threadIdx.x;\n" + kIndex +
        "  part[t] = 0;\n" + adds + "  __syncthreads();\n" + kTree);
}

TEST_CASE("an element goes back to where its thread has it, whatever became of the index") {
  const Normal k("", summing("  part[t] = 0;\n  for (int j = t; j < n; j += blockDim.x) "
                             "part[threadIdx.x] += x[j];\n  t = t * 2 % 64;\n"));
  CHECK(k.why.empty());
  CHECK(k.has("  part[threadIdx.x] = part_own;\n"));
}

TEST_CASE("a slot whose first value is made of another's becomes a variable before that") {
  const std::string loop = "  for (int j = t; j < n; j += blockDim.x) ";
  const Normal k(
      "", "  __shared__ float more[64];\n" +
              summing("  part[t] = 0;\n" + loop + "part[t] += x[j];\n  more[t] = part[t] * 2;\n" +
                      loop + "more[t] += x[j] * x[j];\n  part[t] += more[t];\n"));
  CHECK(k.why.empty());
  CHECK(k.has("  float more_own = part_own * 2;\n"));
}

TEST_CASE("an element that has another name, another's memory or another's value stays") {
  const auto stays = [](const std::string& text) { CHECK_FALSE(refused("", text).empty()); };
  const std::string adds = "  for (int j = t; j < n; j += blockDim.x) part[t] += x[j];\n";
  stays(summing("  part[t] = 0;\n  float& q = part[t];\n" + adds +
                "  __syncthreads();\n  q += 1;\n"));
  stays(summing("  struct Kept {\n    float& of;\n  };\n  part[t] = 0;\n  Kept q{part[t]};\n" +
                adds + "  __syncthreads();\n  q.of += 1;\n"));
  stays(summing("  int c = 0;\n  part[t] = 0;\nagain:\n" + adds +
                "  __syncthreads();\n  part[t] *= 0.5f;\n  __syncthreads();\n  if (c++ < 2) goto "
                "again;\n"));
  stays("  __shared__ int more[64];\n" +
        summing("  part[t] = more[t] = 0.5;\n  for (int j = t; j < n; j += blockDim.x) {\n    "
                "part[t] += x[j];\n    more[t] += 1;\n  }\n"));
  stays(
      "  extern __shared__ float part[];\n  extern __shared__ int more[];\n  int t = "
      "threadIdx.x;\n" +
      kIndex +
      "  part[t] = 0;\n  more[t] = 0;\n  for (int j = t; j < n; j += blockDim.x) {\n    part[t] "
      "+= 1;\n    more[t] += 1;\n  }\n  __syncthreads();\n" +
      kTree);
}

TEST_CASE("a distance keeps its parentheses, and with them where it wraps round") {
  const Normal k("", kIndex +
                         "  if (i < n) y[i] = 0;\n  if (i < n && i > 2) {\n    unsigned off = 0u - "
                         "1u;\n    x += off + i;\n    y[i] = x[0];\n  }\n");
  CHECK(k.has("const float* x_at = x + (off + i);"));
}

TEST_CASE("what is jumped to, or stands in a lambda or in some texts alone, keeps its name") {
  const auto stays = [](const std::string& before, const std::string& text) {
    CHECK_FALSE(refused(before, kIndex + text).empty());
  };
  stays("",
        "  int c = 0;\n  if (i < n) {\n    again:\n    x += i % 2;\n    c++;\n    if (c < 3) "
        "goto again;\n    y[i] = x[0];\n  }\n");
  stays("",
        "  if (i < n) {\n    auto f = [&]() { return x[0]; };\n    x += i;\n    y[i] = f() + "
        "x[0];\n  }\n");
  stays("",
        "  int s = i;\n  auto f = [&](int i) { return x[s] + i; };\n  if (s < n - 2) y[s] = "
        "f(2);\n");
  stays("",
        "  int s = i;\n  auto f = [s, x](int q) { return x[s] + q; };\n  if (s < n) y[s] = "
        "f(2);\n");
  stays("struct P { int& s; };\n",
        "  int s = i;\n  P p{s};\n  p.s += 1;\n  if (i < n) y[i] = x[i] + s;\n");
  stays("",
        "  int s = i;\n  if (i < n) {\n#if MODE == 1\n    y[s] = x[s];\n#else\n    y[s] = x[s] "
        "* 1.0f;\n#endif\n  }\n");
}

TEST_CASE("an operator of a class is not turned round") {
  const Normal k(
      "__device__ bool operator==(float2 a, float2 b) { return a.x == b.x && a.y == b.y; }\n",
      kIndex +
          "  if (i < n) {\n    y[i] = 1;\n    float2 v = make_float2(x[i], x[i]);\n    float2 w "
          "= "
          "make_float2(0, 0);\n    if (v == w) return;\n    y[i] = x[i];\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("if (!(v == w)) {"));
}

TEST_CASE("an index that lags behind a loop's is computed from it") {
  const auto kernel = [](const std::string& start, const std::string& head, const std::string& body,
                         const std::string& behind = "y[i] = sum;") {
    return kIndex + "  if (i < n) {\n    float sum = 0;\n    " + start + "\n    " + head +
           " {\n      " + body + "\n    }\n    " + behind + "\n  }\n";
  };
  const std::string use = "sum += x[j] * x[k];";
  for (const std::string step : {"k = j++", "k = j, j++", "k = j, ++j"}) {
    const Normal k("", kernel("int k = n - 1;", "for (int j = 0; j < n; " + step + ")", use));
    CAPTURE(step);
    CHECK(k.why.empty());
    CHECK(k.has("int k_first = n - 1;"));
    CHECK(k.has("const int k = j == 0 ? k_first : j - 1;"));
    CHECK_FALSE(k.has("k = j,"));
  }
  const Normal skipped("", kernel("int k = n - 1; k = k - 1;", "for (int j = 3; j < n; k = j++)",
                                  "if (j % 3 == 0) continue; " + use));
  CHECK(skipped.has("k_first = k_first - 1;"));
  CHECK(skipped.has("const int k = j == 3 ? k_first : j - 1;"));
  const Normal single("", kIndex +
                              "  if (i < n) {\n    float sum = 0;\n    int k = 5;\n"
                              "    for (int j = 0; j < n; k = j++)\n      sum += x[k] * x[j];\n"
                              "    y[i] = sum;\n  }\n");
  CHECK(single.has("? k_first : j - 1;"));
  const Normal nested("", kernel("", "for (int r = 0; r < 3; r++)",
                                 "int k = r;\n      for (int j = 0; j < n; k = j++) sum += x[k];"));
  CHECK(nested.has("int k_first = r;"));
  for (const auto& [start, head, body, behind] :
       {// it is asked for behind the loop, in its head, or in the next of an outer loop
        std::array<std::string, 4>{"int k = 5;", "for (int j = 0; j < n; k = j++)", use,
                                   "y[i] = sum + k;"},
        {"int k = 5;", "for (int j = 0; j < n && k >= 0; k = j++)", use, "y[i] = sum;"},
        {"int k = 5;", "for (int r = 0; r < 3; r++) for (int j = 0; j < 9; k = j++)", use,
         "y[i] = sum;"},
        // it changes in the body, or by another name
        {"int k = 5;", "for (int j = 0; j < n; k = j++)", use + " k = 2;", "y[i] = sum;"},
        {"int k = 5; int& r = k;", "for (int j = 0; j < n; k = j++)", "sum += x[r];",
         "y[i] = sum;"},
        {"int k = 5; int* p = &k;", "for (int j = 0; j < n; k = j++)", "sum += x[*p];",
         "y[i] = sum;"},
        {"volatile int k = 5;", "for (int j = 0; j < n; k = j++)", use, "y[i] = sum;"},
        {"static int k = 5;", "for (int j = 0; j < n; k = j++)", use, "y[i] = sum;"},
        // so does the index; another type; other steps and first values
        {"int k = 5;", "for (int j = 0; j < n; k = j++)", use + " if (j == 4) j = 6;",
         "y[i] = sum;"},
        {"unsigned char k = 5;", "for (int j = 0; j < n; k = j++)", use, "y[i] = sum;"},
        {"unsigned k = 5;", "for (int j = 0; j < n; k = j++)", use, "y[i] = sum;"},
        {"int k = 5;", "for (int j = 0; j < n; k = j, j += 2)", use, "y[i] = sum;"},
        {"int k = 5;", "for (int j = n - 1; j >= 0; k = j--)", use, "y[i] = sum;"},
        {"int k = 5;", "for (int j = i; j < n; k = j++)", use, "y[i] = sum;"},
        {"int k = 5;", "for (int j = 0; j < n; k = ++j)", "sum += x[k - 1];", "y[i] = sum;"},
        // two variables of the name
        {"int k = 5;", "for (int j = 0; j < n; k = j++)", use + " { int k = 3; sum += x[k]; }",
         "y[i] = sum;"}}) {
    CAPTURE(head + body + start);
    test::MovePath path(test::helped_spec("", kernel(start, head, body, behind)));
    static_cast<void>(path.on_gpu().tried("normalise@kernel"));
    CHECK_FALSE(path.has("_first"));
  }
  const std::string said = "#define AT x[k]\n";
  test::MovePath macro(test::helped_spec(
      said, kernel("int k = 5;", "for (int j = 0; j < n; k = j++)", "sum += AT;")));
  CHECK_FALSE(macro.tried("normalise@kernel").empty());
}

TEST_SUITE_END();
