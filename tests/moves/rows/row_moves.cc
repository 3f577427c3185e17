#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/moves/rows/row_kernels.h"
#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;
using test::row_kernel;

TEST_SUITE_BEGIN("row_moves");

namespace {

/// The variant behind a path of moves, separated by "; ", on a GPU's facts.
MovePath climbed(const KernelSpec& spec, const std::string& path) {
  MovePath out(spec);
  out.on_gpu();
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find("; ", begin), path.size());
    out.step(path.substr(begin, end - begin));
    begin = end + 2;
  }
  return out;
}

Variant reached(const KernelSpec& spec, const std::string& path) {
  return climbed(spec, path).variant();
}

/// Runs what the path leads to against the kernel as it was. `spec` is one of row_kernels().
void passes(const KernelSpec& spec, const std::string& path) {
  static std::map<std::string, test::HostCheck> checks;
  checks.try_emplace(spec.name, spec).first->second.passes(climbed(spec, path).variant());
}

/// Why the last step of the path is refused.
std::string refused(const KernelSpec& spec, const std::string& path) {
  const std::size_t last = path.rfind("; ");
  MovePath before = climbed(spec, last == std::string::npos ? "" : path.substr(0, last));
  const std::string why = before.tried(last == std::string::npos ? path : path.substr(last + 2));
  CHECK_FALSE(why.empty());
  return why;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string split(int lanes) {
  return "parallelise_row_loop(cluster=1,lanes=" + std::to_string(lanes) + ")";
}
std::string scan(int lanes, int packs, int vector) {
  return "scan_parallelise(lanes=" + std::to_string(lanes) + ",packs=" + std::to_string(packs) +
         ",vector=" + std::to_string(vector) + ")";
}

}  // namespace

TEST_CASE("lanes of a warp share loops, reductions are combined, one lane stores") {
  const Variant out = reached(row_kernel("weighted_counts"), split(8));
  CHECK(holds(out.source, "for (int j = lane; j < C; j += LANES)"));
  CHECK(holds(out.source, "if (lane != 0) sum = 0;"));
  CHECK_FALSE(holds(out.source, "if (lane != 0) low"));
  CHECK_FALSE(holds(out.source, "if (lane != 0) positive"));
  CHECK(holds(out.source, "if (lane == 0) o[i * 3] = sum;"));
  CHECK(out.launch.grid[0].text() == "ceil_div(N * 8, 64)");
  CHECK(out.launch.block[0].text() == "64");
}

TEST_CASE("a block takes a row, and combines through one shared array a value") {
  const Variant out = reached(row_kernel("layer_norm"), split(128));
  CHECK(holds(out.source, "int row = blockIdx.x;"));
  CHECK(holds(out.source, "__shared__ float total_warp[4];"));
  CHECK(holds(out.source, "__shared__ float square_warp[4];"));
  CHECK(holds(out.source, "{  // the third pass"));
  CHECK(out.launch.grid[0].text() == "N");
  CHECK(out.launch.block[0].text() == "128");
}

TEST_CASE("a cluster takes a row on a GPU that has clusters") {
  const KernelSpec spec = row_kernel("log_softmax");
  const Variant out = reached(spec, "parallelise_row_loop(cluster=2,lanes=128)");
  CHECK(out.launch.cluster[0].text() == "2");
  CHECK(out.launch.grid[0].text() == "N * 2");
  CHECK(holds(out.source, "mapa.u64"));
  CHECK_FALSE(MovePath(spec).tried("parallelise_row_loop(cluster=2,lanes=128)").empty());
}

TEST_CASE("shared rows agree with one thread a row, at any number of lanes") {
  for (const char* name :
       {"layer_norm", "log_softmax", "softmax_stored", "weighted_counts", "mirrored"}) {
    for (const int lanes : {8, 128}) passes(row_kernel(name), split(lanes));
  }
}

TEST_CASE("what is no loop over an item is left alone") {
  CHECK(holds(refused(row_kernel("exclusive_scan"), split(32)), "scan_parallelise"));
  CHECK(holds(refused(row_kernel("weighted_counts"), "parallelise_row_loop(cluster=1,lanes=24)"),
              "power of two"));
}

TEST_CASE("a row stays in registers, in packs where it is aligned, masked where it does not fit") {
  const KernelSpec fits = row_kernel("log_softmax");
  const std::string keep = "; softmax_math_fusion@loop:0(form=0,vector=";
  CHECK(holds(reached(row_kernel("log_softmax"), split(8) + keep + "4)").source,
              "reinterpret_cast<const float4*>(x + 96 * i"));
  passes(fits, split(8) + keep + "4)");
  passes(fits, split(32) + keep + "1)");
  passes(fits, split(64) + keep + "4)");
  const KernelSpec masked = row_kernel("softmax_stored");
  const Variant out = reached(row_kernel("softmax_stored"), split(8) + keep + "2)");
  CHECK(holds(out.source, "if (j < 1 || j >= 70) continue;"));
  CHECK_FALSE(holds(out.source, "o[i * L + j] = e"));
  passes(masked, split(8) + keep + "2)");
  passes(masked, split(32) + keep + "1)");
}

TEST_CASE("rows of two lengths stay in registers or shared memory, in a version a length") {
  KernelSpec spec = row_kernel("layer_norm");
  spec.name = "layer_norm_of_two_lengths";
  spec.workloads.push_back(spec.workloads.front());
  spec.workloads.back().name = "longer";
  spec.workloads.back().scalars["C"] = std::int64_t{131};
  const std::string at = split(64) + "; softmax_math_fusion@loop:0";
  for (const char* const form : {"(form=0,vector=1)", "(form=1,vector=1)"}) {
    const Variant out = reached(spec, at + form);
    CHECK(kernels_of(out).size() == 3);  // the last is for any other length
    passes(spec, at + form);
  }
}

TEST_CASE("statistics are taken in one sweep, maxima with their sums, stored values again") {
  const KernelSpec norm = row_kernel("layer_norm");
  passes(norm, "softmax_math_fusion@loop:0(form=2,vector=1)");
  passes(norm, split(32) + "; softmax_math_fusion@loop:0(form=2,vector=1)");
  passes(norm, split(64) + "; softmax_math_fusion@loop:0(form=5,vector=1)");
  const KernelSpec logits = row_kernel("log_softmax");
  passes(logits, "softmax_math_fusion@loop:0(form=3,vector=1)");
  const std::string again = split(16) + "; softmax_math_fusion@loop:0(form=4,vector=1)";
  CHECK_FALSE(holds(reached(row_kernel("softmax_twice"), again).source, "o[i * C + j] = e;"));
  passes(row_kernel("softmax_twice"), again);
  passes(row_kernel("softmax_twice"), again + "; softmax_math_fusion@loop:0(form=3,vector=1)");
  passes(logits, split(16) + "; softmax_math_fusion@loop:0(form=3,vector=1)");
}

TEST_CASE("scans are shared by lanes: inclusive, exclusive, over blocks and with a tail") {
  const KernelSpec exclusive = row_kernel("exclusive_scan");
  passes(exclusive, scan(8, 2, 1));
  passes(exclusive, scan(32, 1, 1));
  passes(exclusive, scan(64, 2, 1));
  const KernelSpec inclusive = row_kernel("running_maximum");
  passes(inclusive, scan(32, 4, 4));
  passes(inclusive, scan(128, 1, 4));
  passes(inclusive, scan(16, 1, 4));
  CHECK(holds(refused(row_kernel("exclusive_scan"), scan(32, 1, 4)), "packs of 4"));
  CHECK_FALSE(refused(row_kernel("layer_norm"), scan(32, 1, 1)).empty());
}

TEST_CASE("rows that lanes share add to columns through the block's memory") {
  const KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void backward(float* o, float* columns, const float* x, int n, int "
      "c) "
      "{\n  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= n) return;\n  float sum "
      "= "
      "0;\n  for (int j = 0; j < c; j++) sum += x[row * c + j];\n  for (int j = 0; j < c; j++) {\n "
      "   "
      "atomicAdd(&columns[j], x[row * c + j] * sum);\n    o[row * c + j] = x[row * c + j] - sum;\n "
      " "
      "}\n}\n",
      "backward",
      {{"o", "output", "float32", "n * c"},
       {"columns", "inout", "float32", "c", 0, {{"kind", "zeros"}}},
       {"x", "input", "float32", "n * c", 0, {{"kind", "uniform"}, {"seed", 2}}},
       {"n", "scalar", "", "", 71},
       {"c", "scalar", "", "", 40}},
      "ceil_div(n, 64)", "64", 1e-4);
  for (const std::string lanes : {"8", "32", "64"}) {
    CAPTURE(lanes);
    MovePath path(spec);
    path.step("parallelise_row_loop(cluster=1,lanes=" + lanes + ")")
        .step("avoid_atomics_reduce@argument:columns(copies=1,blocks_per_sm=1)")
        .runs();
    // Rows go by while the sums stay: one addition a column and block.
    const std::size_t rows = path.source().find("for (int block"),
                      last = path.source().find("atomicAdd(&columns[");
    CHECK(path.source().find("float columns_block") < rows);
    CHECK(rows < last);
    CHECK(path.variant().launch.grid[0].text().starts_with("min("));
  }
}

TEST_CASE("a tree over shared memory becomes shuffles") {
  const KernelSpec spec = row_kernel("block_norm");
  passes(spec, split(32));
  const Variant out = reached(spec, "warp_shuffle_reduce@loop:1");
  CHECK_FALSE(holds(out.source, "s >>= 1"));
  passes(spec, "warp_shuffle_reduce@loop:1");
  passes(spec, "softmax_math_fusion@loop:0(form=0,vector=1)");
  passes(spec, "warp_shuffle_reduce@loop:1; softmax_math_fusion@loop:0(form=0,vector=4)");
}

TEST_CASE("blocks share a sum and add their parts to a zeroed output") {
  const KernelSpec spec = row_kernel("weighted_sum");
  const Variant out = reached(spec, "split_reduction@loop:0(splits=4)");
  CHECK(out.launch.grid[1].text() == "4");
  REQUIRE(out.before.size() == 1);
  CHECK(out.before[0].arguments == std::vector<std::string>{"o"});
  CHECK(holds(out.source, "atomicAdd(&o[i], 0.5f * sum);"));
  passes(spec, "split_reduction@loop:0(splits=4)");
  passes(spec, split(16) + "; split_reduction@loop:0(splits=2)");
  CHECK_FALSE(refused(row_kernel("layer_norm"), "split_reduction@loop:0(splits=4)").empty());
  // What another loop has added, every part would add again.
  KernelSpec begun = spec;
  const std::string loop = "  for (int j = 0; j < C; j++) sum +=";
  begun.source.insert(begun.source.find(loop), "  for (int j = 0; j < 3; j++) sum += w[j];\n");
  CHECK(holds(refused(begun, "split_reduction@loop:1(splits=4)"), "does not start from zero"));
}

TEST_CASE("parts of a double sum are added to a float output") {
  const KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void sums(float* o, const float* x, int N, int C) {\n  int i = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) {\n    double sum = 0;\n    for (int j "
      "= 0; j < C; j++) sum += x[j * N + i];\n    o[i] = sum;\n  }\n}\n",
      "sums",
      {{"o", "output", "float32", "N"},
       {"x", "input", "float32", "N * C"},
       {"N", "scalar", "", "", 70},
       {"C", "scalar", "", "", 45}},
      "ceil_div(N, 64)", "64", 1e-4);
  CHECK(holds(reached(spec, "split_reduction@loop:0(splits=4)").source,
              "atomicAdd(&o[i], (float)(sum));"));
  MovePath(spec).on_gpu().step("split_reduction@loop:0(splits=4)").runs();
}

namespace {

/// The place of the greatest of each row, by a loop with `body`; `before` stands in front of it.
KernelSpec places(const std::string& body,
                  const std::string& before = "int best = -1, at = -1;",
                  const std::string& loop = "for (int j = 0; j < C; ++j) {") {
  return test::kernel_under_test(
      "extern \"C\" __global__ void places(int* p, int* v, const int* x, const int* q, int N, int "
      "C) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= N) return;\n  " +
          before + "\n  " + loop + "\n    " + body + "\n  }\n  p[i] = at;\n  v[i] = best;\n}\n",
      "places",
      {{"p", "output", "int32", "N"},
       {"v", "output", "int32", "N"},
       {"x", "input", "int32", "N * C", 0, {{"kind", "randint"}, {"low", 0}, {"high", 7}}},
       {"q", "input", "int32", "C", 0, {{"kind", "randint"}, {"low", 0}, {"high", 7}}},
       {"N", "scalar", "", "", 70},
       {"C", "scalar", "", "", 45}},
      "ceil_div(N, 64)", "64", 0);
}

}  // namespace

TEST_CASE("lanes find the first of equal extrema, and what belongs to it") {
  const std::string plain = "if (x[i * C + j] > best) { best = x[i * C + j]; at = j; }";
  const std::vector<KernelSpec> all{
      places(plain), places(plain, "int best = 3, at = -7;"),
      places("int e = x[i * C + j]; if (best > e) { at = C - j; best = e; }",
             "int best = 9, at = 99;"),
      places(plain, "int best = -1, at = -1;", "for (int j = C - 1; j >= 0; --j) {"),
      places("if (q[j] != 3) if (best < x[i * C + j]) { best = x[i * C + j]; at = 2 * j + i; }"),
      places("const float e = x[i * C + j]; if (e > f) { f = e; at = j; best = q[j]; }",
             "int best = 0, at = 0; float f = 2.0f;"),
      // at falls while j grows
      places("if (x[i * C + j] > best) { best = x[i * C + j]; at = j + k; } k -= 2;",
             "int best = -1, at = -1, k = 0;"),
      // the name of the other lane's value is taken
      places("if (x[i * C + j] > best) { best = x[i * C + j]; at = j; best_other = q[j]; }",
             "int best = -1, at = -1, best_other = 0;"),
      places("for (int h = 0; h < 3; ++h) { int e = (x[i * C + j] + h * q[j]) % 7; if (e > best) { "
             "best = e; at = h; } }",
             "int best = -1, at = -1;", "for (int j = 0; j < C; ++j) {")};
  for (const KernelSpec& spec : all) {
    CAPTURE(spec.source);
    for (const int lanes : {4, 32, 128}) {
      MovePath path(spec);
      path.on_gpu();
      if (&spec == &all.back()) {
        CHECK_FALSE(path.tried(split(lanes)).empty());  // of the short loop, and of the long one
      } else {
        path.step(split(lanes)).runs();
      }
    }
  }
  CHECK(holds(refused(all[0], "parallelise_row_loop(cluster=2,lanes=128)"), "a cluster"));
  const Variant out = reached(all[0], split(8));
  CHECK(holds(out.source, "if (best_other > best || (best_other == best && at_other < at)) {"));
}

TEST_CASE("what is not the first of equal extrema is left to one thread") {
  const std::string take = "{ best = x[i * C + j]; at = j; }",
                    greater = "if (x[i * C + j] > best) ";
  const std::string usual = "int best = -1, at = -1;";
  for (const auto& [body, before] : std::vector<std::pair<std::string, std::string>>{
           {"if (x[i * C + j] >= best) " + take, usual},
           {greater + "{ best = x[i * C + j] + 1; at = j; }", usual},
           {greater + "{ best = x[i * C + j]; at = j % 4; }", usual},
           {greater + "{ best = x[i * C + j]; at = q[j]; }", usual},
           {greater + "{ best = x[i * C + j]; at = best + j; }", usual},
           {greater + "{ best = x[i * C + j]; at += j; }", usual},
           {greater + "{ best = x[i * C + j]; at = j; at = j; }", usual},
           {greater + take + " sum += best;", usual + " int sum = 0;"},
           {greater + take + " if (at > 3) sum += j;", usual + " int sum = 0;"},
           {greater + take + " else at = 0;", usual},
           {"if (x[i * C + j] > best && j != at) " + take, usual},
           {greater + take, "int best = -1; volatile int at = -1;"},
           {greater + take, usual + " int& other = at; other = 5;"},
           {greater + take, usual + " int* other = &best; *other = 5;"},
           {greater + "{ best = x[i * C + j]; at = j - 5; }", "int best = -1; unsigned at = 0;"},
           {greater + take + " if (best == 6) break;", usual},
           {"double e = x[i * C + j] / 3.0; if (e > f) { f = e; at = j; }",
            usual + " float f = 0.0f;"},
           {"int k = q[j]; " + greater + "{ best = x[i * C + j]; at = j + k; }", usual}}) {
    CAPTURE(body);
    CHECK_FALSE(MovePath(places(body, before)).on_gpu().tried(split(8)).empty());
  }
}

TEST_CASE("a sum that several threads store, or blocks of the second axis take, is not split") {
  const auto sums = [](const std::string& row, const std::string& guard, const std::string& block) {
    return test::kernel_under_test(
        "extern \"C\" __global__ void sums(float* o, const float* x, int N, int C) {\n  int row "
        "= " +
            row +
            ";\n  if (row >= N) return;\n  float sum = 0.0f;\n"
            "  for (int j = threadIdx.x; j < C; j += 32) sum += x[row * C + j];\n"
            "  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);\n  " +
            guard + "o[row] = sum;\n}\n",
        "sums",
        {{"o", "output", "float32", "N"},
         {"x", "input", "float32", "N * C"},
         {"N", "scalar", "", "", 5},
         {"C", "scalar", "", "", 301}},
        "N", block, 1e-4);
  };
  const std::string step = "split_reduction@loop:0(splits=4)";
  CHECK(refused(sums("blockIdx.x", "", "32"), step) ==
        "several threads may store the same element of o");
  CHECK(refused(sums("blockIdx.x + blockIdx.y", "if (threadIdx.x == 0) ", "32"), step) ==
        "the grid's y axis is taken");
  MovePath(sums("blockIdx.x", "if (threadIdx.x == 0) ", "32")).on_gpu().step(step).runs();
}

TEST_CASE("a local array moves to shared memory or becomes registers") {
  const KernelSpec spec = row_kernel("buckets");
  CHECK(holds(reached(spec, "local_array_placement@array:bucket(place=1)").source,
              "bucket[j % 8][threadIdx.x] +="));
  passes(spec, "local_array_placement@array:bucket(place=1)");
  CHECK_FALSE(refused(spec, "local_array_placement@array:bucket(place=0)").empty());
}

TEST_SUITE_END();
