#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;
using test::TestArgument;

TEST_SUITE_BEGIN("range_moves");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

using Lengths = std::vector<std::int64_t>;

/// Rows of every kind: empty ones at both ends and in the middle, one of several tiles, some of a
/// warp's size.
Lengths uneven_rows() {
  Lengths out{0, 0, 5, 1, 0, 1700, 3, 0, 0, 40, 512, 511, 1};
  for (std::int64_t i = 0; i < 300; ++i) out.push_back(i * 7919 % 23);
  out.insert(out.end(), {700, 0, 33, 0, 0});
  return out;
}

struct RangeKernel {
  std::string body;  ///< of `sums`
  Lengths lengths = uneven_rows();
  std::string type = "float", dtype = "float32";
  std::string pointer = "int", pointer_dtype = "int32";
  std::string role = "output";
};

/// sums(y, p, a, b, c, n, m): ranges p over a[m] and c[m], which indexes b[64].
KernelSpec kernel_of(const RangeKernel& k) {
  const auto n = static_cast<std::int64_t>(k.lengths.size());
  std::int64_t m = 0;
  for (const std::int64_t length : k.lengths) m += length;
  const std::string source = "extern \"C\" __global__ void sums(" + k.type + "* y, const " +
                             k.pointer + "* p, const " + k.type + "* a, const " + k.type +
                             "* b, const int* c, int n, int m) {\n" + k.body + "}\n";
  const nlohmann::json values = {
      {"kind", "uniform"}, {"low", k.dtype == "uint32" ? 0 : -8}, {"high", 8}, {"seed", 3}};
  KernelSpec spec = test::kernel_under_test(
      source, "sums",
      {{"y", k.role, k.dtype, "n", 0, {{"kind", "ones"}}},
       {"p", "input", k.pointer_dtype, "n + 1", 0, {{"kind", "csr_row_pointers"}, {"mean", 0}}},
       {"a", "input", k.dtype, "m + 1", 0, values},
       {"b", "input", k.dtype, "64", 0, values},
       {"c",
        "input",
        "int32",
        "m + 1",
        0,
        {{"kind", "randint"}, {"low", 0}, {"high", 64}, {"seed", 2}}},
       {"n", "scalar", "", "", n},
       {"m", "scalar", "", "", m}},
      "ceil_div(n, 64)", "64", 1e-4);
  EmbeddedData pointers{make_tensor(*parse_dtype(k.pointer_dtype), {n + 1})};
  std::int64_t end = 0;
  for (std::int64_t i = 0; i < n; ++i)
    pointers.tensor.set(i + 1, static_cast<double>(end += k.lengths[static_cast<std::size_t>(i)]));
  spec.io.args[1].tensor->content = std::move(pointers);
  return spec;
}

const std::string kRow =
    "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= n) return;\n";
const std::string kSpmv = kRow +
                          "  float sum = 0.0f;\n  for (int j = p[row]; j < p[row + 1]; ++j) {\n    "
                          "sum += a[j] * b[c[j]];\n  }\n  y[row] = sum;\n";

std::string step_of(int tile, int lanes) {
  return "balance_ranges@loop:0(lanes=" + std::to_string(lanes) + ",tile=" + std::to_string(tile) +
         ")";
}

/// Why the move declines; empty if it applies.
std::string refused(const RangeKernel& kernel,
                    const std::function<void(KernelSpec&)>& change = nullptr) {
  KernelSpec spec = kernel_of(kernel);
  if (change) change(spec);
  return MovePath(std::move(spec)).tried(step_of(512, 4));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a sparse product takes equally many nonzeros a block, in both spellings of its sum") {
  const KernelSpec spec = load_specs(kRoot + "/specs/spmv_csr.json").front();
  MovePath path(spec);
  CHECK(path.listed("balance_ranges").size() > 4);
  path.step(step_of(2048, 4));
  CHECK(path.has("summand[u] = v_next[u] * x[ci_next[u]];"));
  CHECK(path.variant().launch.grid[0].text() == "max(1, ceil_div(NNZ, 2048))");
  REQUIRE(path.variant().before.size() == 1);
  CHECK(path.variant().before[0].arguments == std::vector<std::string>{"y"});
  path.runs();
  CHECK(path.listed("balance_ranges").empty());
  MovePath promoted(spec);
  promoted.step("promote_scalars@loop:0")
      .step("qualify_pointers@arguments(const=1,restrict=1)")
      .step(step_of(8192, 2))
      .runs();
  promoted.step("cache_policy_cg@argument:v(policy=1)")
      .step("cache_policy_cg@argument:ci(policy=1)")
      .step("set_tunable@tunable:BLOCK(value=64)")
      .runs();
  CHECK(promoted.has("v_next[u] = __ldcs(&v[j]);"));
}

TEST_CASE("rows of any length are summed by any number of lanes") {
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    CAPTURE(lanes);
    MovePath(kernel_of({kSpmv})).step(step_of(lanes == 8 ? 4096 : 512, lanes)).runs();
  }
  const std::vector<Lengths> cases{{0, 0, 0, 0},
                                   {0},
                                   {1},
                                   {512},
                                   {513},
                                   {512, 512},
                                   {100, 3000, 100},
                                   Lengths(700, 1),
                                   {0, 0, 511, 0, 1, 0, 1024, 0}};
  for (const Lengths& lengths : cases) {
    CAPTURE(lengths.size());
    CAPTURE(lengths.front());
    MovePath(kernel_of({kSpmv, lengths})).step(step_of(512, 4)).runs();
  }
}

TEST_CASE("sums of other types, without a gather") {
  const std::vector<std::pair<std::string, std::string>> types{
      {"double", "float64"}, {"int", "int32"}, {"unsigned int", "uint32"}};
  for (const auto& [type, dtype] : types) {
    CAPTURE(type);
    RangeKernel kernel{.body = kRow + "  " + type +
                               " total = 0;\n  for (int j = p[row]; j < p[row + 1]; j++) total += "
                               "a[j];\n  y[row] = total;\n"};
    kernel.type = type, kernel.dtype = dtype;
    MovePath path(kernel_of(kernel));
    path.step(step_of(1024, 8));
    CHECK(path.has("__shared__ " + type + " summands[TILE];"));
    path.runs();
  }
  RangeKernel wide{
      .body =
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    float s = 0;\n    "
          "for (long long k = p[i]; k < p[i + 1]; ++k) s += a[k];\n    y[i] = s;\n  }\n"};
  wide.pointer = "long long", wide.pointer_dtype = "int64";
  MovePath path(kernel_of(wide));
  path.step(step_of(512, 2));
  CHECK(path.has("tile_first = (long long)blockIdx.x * TILE;"));
  path.runs();
}

TEST_CASE(
    "what a summand needs is kept: factors, locals, helpers; the rest of the thread's code goes") {
  const std::vector<std::string> bodies{
      kRow +
          "  const int rows = n;\n  float alpha = b[0] * 0.5f, unused = a[0];\n  float sum = "
          "0.0f;\n  for (int j = p[row]; j < p[row + 1]; ++j) sum += alpha * a[j] * b[c[j]];\n  "
          "y[row] = sum;\n",
      kRow +
          "  int begin = p[row], end = p[row + 1];\n  float sum = 0.0f;\n  for (int j = begin; j < "
          "end; ++j) {\n    int column = c[j];\n    const float value = __ldg(&a[j]);  // once\n"
          "    sum = fmaf(value, b[column], sum);\n  }\n  y[row] = sum;\n",
      kRow +
          "  float sum = 0.0f;\n  for (int j = p[row]; j < p[row + 1]; ++j) sum -= a[j] > 0.0f ? "
          "a[j] * b[c[j]] : b[j % 64];\n  y[row] = sum;\n",
      kRow +
          "  float sum = 0.0f;\n  for (int j = p[row]; j < p[row + 1]; ++j) sum = sum + j;\n  "
          "y[row] = sum + a[0];\n",
      kRow +
          "  const float* values = a + 1;\n  float sum = 0.0f;\n  for (int j = p[row]; j < p[row + "
          "1]; ++j) sum += values[j] * a[j];\n  y[row] = sum;\n"};
  const std::vector<bool> good{true, true, true, false, true};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    CAPTURE(bodies[i]);
    MovePath path(kernel_of({bodies[i]}));
    if (!good[i]) {
      CHECK(path.tried(step_of(512, 4)) == "the sum is not stored as it is");
      continue;
    }
    path.step(step_of(512, 4));
    CHECK_FALSE(path.has("unused") != (i == 0));
    path.runs();
  }
  MovePath tabs(kernel_of({replaced(replaced(kSpmv, "    sum", "\t\tsum"), "  float", "\tfloat")}));
  tabs.step(step_of(512, 4)).runs();
}

TEST_CASE("sums are added to what the output holds") {
  RangeKernel added{.body = replaced(kSpmv, "y[row] = sum", "y[row] += sum")};
  added.role = "inout";
  MovePath path(kernel_of(added));
  path.step(step_of(512, 4));
  CHECK(path.variant().before.empty());
  path.runs();
  RangeKernel in_place{.body =
                           kRow + "  for (int j = p[row]; j < p[row + 1]; ++j) y[row] += a[j];\n"};
  in_place.role = "inout";
  MovePath(kernel_of(in_place)).step(step_of(1024, 1)).runs();
}

TEST_CASE("what is no such sum is declined with its reason") {
  const auto with = [](const std::string& from, const std::string& to) {
    return RangeKernel{replaced(kSpmv, from, to)};
  };
  CHECK(refused({kSpmv}).empty());
  // The ranges.
  CHECK(refused(with("p[row + 1]", "p[row] + 4")) ==
        "the loop's bounds are no elements of an array");
  CHECK(refused(with("p[row + 1]", "p[row + 2]")) ==
        "the ranges of neighbouring rows do not lie end to end");
  CHECK(refused(with("j = p[row]", "j = p[row] + 1")) ==
        "the loop's bounds are no elements of an array");
  CHECK(refused(with("j = p[row]", "j = c[row]")) ==
        "the ranges of neighbouring rows do not lie end to end");
  CHECK(refused(with("++j", "j += 2")) ==
        "the loop does not run in steps of 1 from one bound to below the other");
  CHECK(refused({kSpmv}, [](KernelSpec& s) {
          std::get<EmbeddedData>(s.io.args[1].tensor->content).tensor.set(2, 9999);
        }) == "the spec does not say that p ascends from 0");
  CHECK(refused({kSpmv}, [](KernelSpec& s) {
          s.io.args[1].tensor->content.emplace<InitRule>().kind = InitRule::Kind::randint;
        }) == "the spec does not say that p ascends from 0");
  CHECK(refused(with("a[j] * b[c[j]]", "b[j % 64]")) == "no array of a known size is read at j");
  // The summands.
  CHECK(refused(with("a[j] * b", "a[j] * row * b")) ==
        "a summand depends on the thread by more than j");
  CHECK(refused(with("a[j] * b", "a[j] * threadIdx.x * b")) ==
        "a summand depends on the thread by more than j");
  CHECK(refused(with("a[j] * b[c[j]]", "(double)a[j] * b[c[j]]")) ==
        "a summand is not of the sum's type");
  CHECK(refused(with("    sum += a[j] * b[c[j]];", "    if (c[j] > 3) sum += a[j];")) ==
        "the loop does more than sum");
  CHECK(refused(with("    sum += a[j]", "    if (c[j] < 0) break;\n    sum += a[j]")) != "");
  CHECK(refused(with("sum += a[j] * b[c[j]]", "sum = fmaxf(sum, a[j])")) == "sum is no plain sum");
  CHECK(refused(with("sum += a[j] * b[c[j]];", "sum += a[j];\n    sum += b[c[j]];")) ==
        "the loop is not one sum");
  // What surrounds them.
  CHECK(refused(with("sum = 0.0f", "sum = a[0]")) == "sum does not start from zero");
  CHECK(refused(with("y[row] = sum", "y[row] = 2.0f * sum")) == "the sum is not stored as it is");
  CHECK(refused(with("y[row] = sum", "y[n - 1 - row] = sum")) ==
        "y is used elsewhere than at the thread's own row");
  CHECK(refused(with("  y[row] = sum;\n", "  y[row] = sum;\n  y[0] = 1.0f;\n")) ==
        "the kernel does more than sum and store");
  CHECK(refused(with("  float sum = 0.0f;\n", "  float sum = 0.0f;\n  y[0] = 1.0f;\n")) ==
        "the kernel does more than sum and store");
  CHECK(refused(with("  float sum = 0.0f;\n", "  float sum = 0.0f;\n  float twice = sum;\n")) ==
        "sum is used for more than its store");
  CHECK(refused(with("if (row >= n) return;", "if (row >= n || a[0] > 9.0f) return;")) != "");
  CHECK(
      refused(with("if (row >= n) return;", "if (row >= n) return;\n  if (a[0] > 9.0f) return;")) ==
      "the kernel does more than sum and store");
  CHECK(refused(with("  y[row] = sum;\n", "  __syncthreads();\n  y[row] = sum;\n")) ==
        "the threads of a block work together already");
  CHECK(refused(with("  y[row] = sum;\n",
                     "  for (int i = 0; i < 2; ++i) sum += a[i];\n  y[row] = sum;\n")) ==
        "the kernel has not one loop");
  CHECK(refused({kSpmv}, [](KernelSpec& s) { s.io.may_alias = {{"a", "y"}}; }) ==
        "a and y may be the same memory");
  CHECK(refused({kSpmv}, [](KernelSpec& s) { s.io.args[0].role = ArgRole::inout; }) ==
        "y may keep elements that the kernel does not write");
  CHECK(refused({kSpmv}, [](KernelSpec& s) { s.io.launch.grid[0] = Expression(1); }) ==
        "the guard's bound lies beyond the launch");
  CHECK(refused({kSpmv}, [](KernelSpec& s) { s.io.launch.grid[1] = Expression(2); }) ==
        "the launch has more than one axis");
  // Types.
  RangeKernel longs{.body = replaced(replaced(kSpmv, "float sum", "long long sum"), "0.0f", "0")};
  longs.type = "long long", longs.dtype = "int64";
  CHECK(refused(longs) == "atomicAdd takes no long long");
  RangeKernel doubles{.body = replaced(kSpmv, "float sum", "double sum")};
  doubles.type = "double", doubles.dtype = "float64";
  CHECK(MovePath(kernel_of(doubles)).tried(step_of(8192, 4)) ==
        "the tile's summands do not fit shared memory");
  // Parameters.
  MovePath path(kernel_of({kSpmv}));
  CHECK(path.tried("balance_ranges@loop:0(lanes=3,tile=512)") == "3 is no value of lanes");
  CHECK(path.tried("balance_ranges@loop:0(lanes=4,tile=600)") == "600 is no value of tile");
  CHECK(path.tried("balance_ranges@loop:1(lanes=4,tile=512)") == "no ranges at loop:1");
}

TEST_CASE("a block that is not of whole warps is replaced") {
  KernelSpec spec = kernel_of({kSpmv});
  spec.io.launch.block[0] = Expression(48),
  spec.io.launch.grid[0] = Expression::parse("ceil_div(n, 48)", "test");
  MovePath path(spec);
  path.step(step_of(2048, 4));
  CHECK(path.variant().launch.block[0].text() == "256");
  path.runs();
}

TEST_SUITE_END();
