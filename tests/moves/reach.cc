#include <doctest/doctest.h>

#include <string>

#include "engine/text/source_edit.h"
#include "engine/text/tokens.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/row_sweeps.h"
#include "moves/syntax/syntax_query.h"
#include "tests/support/example_kernel.h"

using namespace warpath;

// Kernels as people write them at which moves once crashed, said what is not so, or wrote what does
// not hold.
TEST_SUITE_BEGIN("reach");

namespace {

using Kernel = ExampleKernel;

const std::string kVector =
    "output: float32 y[n]\ninput: float32 x[n]\nscalar: int32 n = 1048576\ngrid: ceil_div(n, "
    "256)\nblock: 256\n";

std::string vector_kernel(const std::string& body) {
  return "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, int "
         "n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
         body + "}\n";
}

const model::ThreadIndex* index_of(const model::KernelModel& m) {
  return m.facts.thread_index("i");
}

}  // namespace

TEST_CASE(
    "a guard in a declaration's ?: is no statement that could be rewritten, and the if behind it "
    "is") {
  const Kernel k(
      kVector, vector_kernel("  float v = (i < n) ? x[i] : 0.f;\n  if (i < n) y[i] = v + 1.f;\n"));
  const auto m = k.model();
  REQUIRE(index_of(*m)->bound.has_value());
  CHECK(index_of(*m)->guard->stmt->is(model::StmtKind::if_));
  static_cast<void>(k.offered());
}

TEST_CASE("conditions that declare what they test stop moves, not the program") {
  for (const char* const body : {"  if (bool go = i < n) y[i] = x[i];\n",
                                 "  while (int left = n - i) { y[i] = x[left]; break; }\n",
                                 "  switch (int c = i % 2) { case 0: y[i] = x[i]; }\n"}) {
    const Kernel k(kVector, vector_kernel(body));
    CAPTURE(k.source());
    CHECK(k.model()->facts.veto == "a condition of the kernel declares what it tests");
    static_cast<void>(k.offered());
  }
  const Kernel tree(kVector,
                    vector_kernel("  __shared__ float sd[256];\n  int t = threadIdx.x;\n  sd[t] = "
                                  "x[i];\n  __syncthreads();\n"
                                  "  for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n    if (bool "
                                  "go = t < s) sd[t] += sd[t + s];\n    __syncthreads();\n  }\n"
                                  "  if (t == 0) y[blockIdx.x] = sd[0];\n"));
  CHECK(tree.offered("warp_shuffle_reduce").empty());
}

TEST_CASE("a transposition staged through shared memory goes through every move again") {
  Kernel k(
      "output: float32 out[cols, rows]\ninput: float32 in[rows, cols]\nscalar: int32 rows = "
      "8192\nscalar: int32 cols = 8192\ngrid: ceil_div(cols, 32); ceil_div(rows, 8)\nblock: 32; "
      "8\n",
      "extern \"C\" __global__ void k(float* __restrict__ out, const float* __restrict__ in, int "
      "rows, int cols) {\n"
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n  if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];\n}\n");
  REQUIRE(k.step("smem_tile_stage@exchange(rows=4,tile=64)") == "");
  CHECK_NOTHROW(static_cast<void>(k.offered()));
  for (const MoveOffer& first : k.offered()) {
    Kernel next = k;
    CAPTURE(first.instance.text());
    REQUIRE(next.step(first.instance.text()) == "");
    CAPTURE(next.source());
    CHECK_NOTHROW(static_cast<void>(next.offered()));
  }
}

TEST_CASE("a guard bounds the thread's index only if all that reaches memory stands under it") {
  const auto bound = [](const std::string& body) {
    const Kernel k(kVector, vector_kernel(body));
    const auto m = k.model();
    const auto& out = index_of(*m)->bound;
    return out ? out->text() : std::string();
  };
  CHECK(bound("  float v = x[i];\n  if (i < n - 1) v += x[i + 1];\n  y[i] = v;\n") == "");
  CHECK(bound("  if (i < n) y[i] = x[i];\n") == "n");
  CHECK(bound("  if (i >= n) return;\n  float v = x[i];\n  if (i < n - 1) v += x[i + 1];\n  y[i] = "
              "v;\n") == "n");
  CHECK(bound("  if (i < n - 1) y[i] = x[i + 1];\n  if (i < n) y[i] = 0.f;\n") == "n");
  CHECK(bound("  if (i < n) y[i] = x[i];\n  if (i < 2 * n) y[i / 2] = 0.f;\n") == "");
  Kernel k(kVector,
           vector_kernel("  float v = x[i];\n  if (i < n - 1) v += x[i + 1];\n  y[i] = v;\n"));
  CHECK(k.step("pad_tail_and_mask@guard(form=3)") == "");
  CHECK(index_of(*k.model())->bound->text() == "n");
  CHECK(k.has("if (i < n - 1) v += x[i + 1];"));
}

TEST_CASE("a cast inside a function-like macro is read in the macro") {
  const Kernel k(kVector, "#define WIDE(v) ((long long)(v) * 4)\n" +
                              vector_kernel("  if (4 * i < n) y[WIDE(i)] = x[WIDE(i)];\n"));
  const auto m = k.model();
  REQUIRE(m != nullptr);
  CHECK(m->facts.veto == "");
  REQUIRE(m->facts.accesses.size() == 2);
  for (const model::Access& access : m->facts.accesses)
    CHECK(access.index.coefficient_of("threadIdx.x") == model::Polynomial(4));
  const Kernel packed(kVector,
                      "#define FLOAT4(v) (reinterpret_cast<float4*>(&(v))[0])\n" +
                          vector_kernel("  if (4 * i < n) FLOAT4(y[4 * i]) = FLOAT4(x[4 * i]);\n"));
  CHECK(packed.model()->facts.veto == "");
  static_cast<void>(packed.offered());
}

TEST_CASE("a byte order mark hides nothing, and a kernel that a condition leaves out is named") {
  const std::string mark = "\xEF\xBB\xBF";
  const model::Unit unit =
      model::parse(mark + "namespace { __global__ void k(float* y) { y[0] = 1.f; } }\n");
  CHECK(unit.find_kernel("k") != nullptr);
  CHECK(tokenize(mark + "int a;").tokens.size() == 3);

  Kernel k(kVector, vector_kernel("  if (i < n) y[i] = x[i];\n"));
  Variant hidden = k.at().variant;
  hidden.source = "#if SOMETHING_ELSE\ntemplate <class T> struct s;\n" + hidden.source + "#endif\n";
  std::string why;
  CHECK(model::model_kernel(k.at().spec, hidden, why) == nullptr);
  CHECK(why == "the source has no single kernel k: the condition of line 1 leaves it out");
  CHECK(model::hidden_kernels(model::parse(hidden.source)).size() == 1);
}

TEST_CASE(
    "compile-time scalars are macros to the model: their values are known, their names taken") {
  Kernel k(kVector, vector_kernel("  if (i < n) y[i] = x[i] * POINTS;\n"));
  k.spec().io.args.push_back({.name = "POINTS",
                              .type = ArgType::integer,
                              .role = ArgRole::scalar,
                              .value = std::int64_t{7},
                              .is_meta = true,
                              .tensor = {}});
  k.spec().io.args.push_back({.name = "u",
                              .type = ArgType::string,
                              .role = ArgRole::scalar,
                              .value = std::string("float"),
                              .is_meta = true,
                              .tensor = {}});
  const auto m = k.model();
  REQUIRE(m != nullptr);
  CHECK(m->unit.constants().at("POINTS") == 7);
  CHECK(m->unit.is_defined("u"));
  CHECK(model::fresh_name(m->unit, "POINTS") == "POINTS_2");
  CHECK(model::fresh_name(m->unit, "u") == "u_2");
}

TEST_CASE("a kernel may have its namespace's name") {
  const model::Unit unit = model::parse(
      "namespace scale {\n__global__ void scale(float* y, const float* x, int n) {\n  int i = "
      "threadIdx.x;\n  if (i < n) y[i] = x[i];\n}\n}\n");
  const model::Function* const kernel = unit.find_kernel("scale");
  REQUIRE(kernel != nullptr);
  CHECK(kernel->parameters.size() == 3);
  CHECK(kernel->opaque.empty());
  CHECK(unit.find_kernel("scale::scale") == kernel);
}

TEST_CASE("approximations are offered where the spec allows them and its tolerance has room") {
  const std::string body = "  if (i < n) y[i] = expf(x[i]) / (1.f + x[i]);\n";
  Kernel k(kVector, vector_kernel(body));
  k.spec().tolerance[""] = {.atol = 1e-4, .rtol = 1e-4, .norm = 1e-4};
  CHECK(k.offered("index_math_strength").empty());
  CHECK(k.step("index_math_strength@math(form=1)") ==
        "the spec declares no approximations: bound.flops.sfu, or -use_fast_math");
  k.spec().bound.flops.emplace("sfu", Expression(1));
  CHECK(k.offered("index_math_strength").size() == 1);
  k.spec().tolerance[""] = {.atol = 1e-2, .rtol = 0, .norm = 1e-2};
  CHECK(k.offered("index_math_strength").size() == 1);
  k.spec().tolerance[""] = {.atol = 1e-2, .rtol = 0, .norm = 1e-7};
  CHECK(k.offered("index_math_strength").empty());
  Kernel own(kVector, vector_kernel("  if (i < n) y[i] = __expf(x[i]) + expf(x[i]);\n"));
  own.spec().tolerance[""] = {.atol = 1e-4, .rtol = 1e-4, .norm = 1e-4};
  CHECK(own.step("index_math_strength@math(form=1)") == "");  // the kernel itself does
}

TEST_CASE("copies that run ahead leave behind what their use needs") {
  Kernel k(
      "output: float32 f[n]\ninput: float32 x[n]\nscalar: int32 n = 4096\ngrid: ceil_div(n, "
      "256)\nblock: 256\n",
      "extern \"C\" __global__ void k(float* __restrict__ f, const float* __restrict__ x, int n) "
      "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float own = x[i];\n  float sum = 0.f;\n  for (int j = 0; j < n; j++) {\n    float d = "
      "x[j] - own;\n    sum += d * d;\n  }\n  f[i] = sum;\n}\n");
  REQUIRE(k.step("smem_tile_stage") == "");
  REQUIRE(k.has("j_last"));
  const std::string why = k.step("enable_async_pipeline");
  CAPTURE(why);
  REQUIRE(why == "");
  CAPTURE(k.source());
  const std::size_t use = k.source().rfind("< j_last"), made = k.source().rfind("j_last = ");
  REQUIRE(use != std::string::npos);
  CHECK(made < use);
  CHECK(k.source().find("j_last = ") < made);  // once for the copies, once for the use
}

TEST_CASE("what a move puts into shared memory fits beside what the kernel has there") {
  const std::string head =
      "inout: int32 h[4096]\ninput: int32 x[n]\nscalar: int32 n = 1048576\ngrid: ceil_div(n, "
      "256)\nblock: 256\n";
  const auto source = [](const std::string& shared) {
    return "extern \"C\" __global__ void k(int* h, const int* x, int n) {\n  int i = blockIdx.x * "
           "blockDim.x + threadIdx.x;\n" +
           shared + "  if (i < n) atomicAdd(&h[x[i] % 4096], 1);\n}\n";
  };
  Kernel free(head, source("")),
      full(head, source("  __shared__ int other[10000];\n  other[threadIdx.x] = 0;\n"));
  CHECK(free.step("avoid_atomics_reduce@argument:h(copies=2)") == "");
  CHECK(full.step("avoid_atomics_reduce@argument:h(blocks_per_sm=0,copies=2)") ==
        "72768 bytes of shared memory are too many");
}

TEST_CASE("stores to two places of an array are no loads of it") {
  Kernel k(
      kVector,
      vector_kernel(
          "  if (2 * i < n) {\n    y[2 * i] = x[2 * i + 1];\n    y[2 * i + 1] = x[2 * i];\n  }\n"));
  for (const std::string& reason : k.reasons())
    CHECK(reason.find("could change a load of y") == std::string::npos);
}

TEST_CASE("a small operand may have a size by name, and that of other devices does not count") {
  const std::string source =
      "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, const "
      "float* __restrict__ w, int n, int taps) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float sum = "
      "0.f;\n  for (int t = 0; t < taps; t++) sum += w[t] * x[i + t];\n  y[i] = sum;\n}\n";
  const Kernel k(
      "output: float32 y[n]\ninput: float32 x[n + 16]\ninput: float32 w[taps]\nscalar: int32 n = "
      "65536\nscalar: int32 taps = 9\ngrid: ceil_div(n, 256)\nblock: 256\n",
      source);
  CHECK(Kernel(k).step("constant_operand@argument:w(form=1)") == "");
}

TEST_CASE("a pointer where the spec has a scalar is none of its arrays") {
  const Kernel k(
      kVector,
      "extern \"C\" __global__ void k(float* y, int n, float* x) {\n  int i = blockIdx.x * "
      "blockDim.x + threadIdx.x;\n  if (i < n) atomicAdd(&x[0], y[i]);\n}\n");
  const auto m = k.model();
  for (const model::Array& array : m->facts.arrays)
    CHECK((array.name == "y" ? array.spec_name == "y" : array.spec_name.empty()));
  CHECK_NOTHROW(static_cast<void>(k.offered()));
}

TEST_CASE(
    "names with two meanings, tiles of one step, heads with a thread's index and sums without a "
    "neutral element are left alone") {
  const std::string loop =
      "  float sum = 0.f;\n  for (int j = 0; j < n; j++) {\n    float v = x[j];\n    for (int v = "
      "0; v < 3; v++) sum += v;\n    sum += v * x[j + 1];\n  }\n  if (i < n) y[i] = sum;\n";
  Kernel two(kVector, vector_kernel(loop));
  CHECK(two.step("unroll_ilp@loop:0(factor=4,tail=0)") == "v has two meanings in the loop");
  Kernel shadowed(kVector,
                  vector_kernel("  float sum = 0.f;\n  for (int j = 0; j < n; j++) {\n    float j "
                                "= x[i];\n    sum += j;\n  }\n  if (i < n) y[i] = sum;\n"));
  CHECK(shadowed.offered("unroll_ilp").empty());
  CHECK_NOTHROW(static_cast<void>(shadowed.offered()));
  const Kernel inside(kVector,
                      vector_kernel("  for (int block = blockIdx.x; block < 4; block += gridDim.x) "
                                    "{\n    __shared__ float tile[256];\n    tile[threadIdx.x] = "
                                    "x[block * 256 + threadIdx.x];\n    __syncthreads();\n"
                                    "    y[block * 256 + threadIdx.x] = tile[255 - threadIdx.x];\n "
                                    "   __syncthreads();\n  }\n"));
  CHECK_NOTHROW(static_cast<void>(inside.offered()));
  const Kernel head(
      kVector,
      "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, int n) "
      "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  for (int j = 0; j < 64; ++j || blockIdx.x * blockDim.x + threadIdx.x) y[i] = x[i];\n}\n");
  CHECK_NOTHROW(static_cast<void>(head.offered()));
}

TEST_CASE(
    "a store whose place stands in parentheses takes a hint, and a directive a line of its own") {
  Kernel k(kVector, vector_kernel("  if (i < n) (y[i]) = 2.f * x[i];\n"));
  REQUIRE(k.step("cache_policy_cg@argument:y(policy=1)") == "");
  CHECK(k.has("if (i < n) __stcs(&y[i], 2.f * x[i]);"));
  CHECK(edited("if (a) { for (;;) ; }", {{9, 9, "#pragma unroll\n"}}) ==
        "if (a) { \n#pragma unroll\nfor (;;) ; }");
  CHECK(edited("a\n  b", {{4, 4, "#pragma unroll\n  "}}) == "a\n  #pragma unroll\n  b");
}

TEST_CASE("a loop's own moves do not mind what the kernel calls elsewhere") {
  const std::string rows =
      "output: float32 y[n]\ninput: float32 x[n, c]\nscalar: int32 n = 8192\nscalar: int32 c = "
      "1024\ngrid: ceil_div(n, 256)\nblock: 256\n";
  const auto kernel = [&](const std::string& before, const std::string& inside,
                          const std::string& behind) {
    return Kernel(
        rows,
        "__device__ __noinline__ float helper(const float* p) { asm volatile(\"trap;\" ::: "
        "\"memory\"); return p[0]; }\n"
        "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ "
        "x, int n, int c) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i >= n) return;\n  __shared__ float seen[1];\n  float sum = 0.f;\n" +
            before + "  for (int j = 0; j < c; ++j) {\n    " + inside +
            "sum += x[i * c + j];\n  }\n" + behind + "  y[i] = sum;\n}\n");
  };
  const std::string call = "seen[0] += helper(seen);\n", assembly = "asm volatile(\"trap;\");\n",
                    macro = "SOMETHING(c);\n", escape = "sum += helper(x);\n";
  for (const char* const move :
       {"unroll_ilp@loop:0(factor=4,tail=0)", "vectorize_global_loads@loop:0(width=4)"}) {
    CAPTURE(move);
    CHECK(kernel("", "", "").step(move) == "");
    CHECK(kernel("  " + call, "", "").step(move) == "");
    CHECK(kernel("", "", "  " + call).step(move) == "");
    CHECK(kernel("  " + assembly, "", "  " + assembly).step(move) == "");
    CHECK(kernel("", call, "").step(move) == "the kernel calls helper, whose effects are unknown");
    CHECK(kernel("", assembly, "").step(move) == "the kernel holds inline assembly");
    // may change c
    CHECK(kernel("  " + macro, "", "").step(move) ==
          "the kernel calls SOMETHING, whose effects are unknown");
    CHECK(kernel("  " + escape, "", "").step(move) ==
          "the address of x goes where it is not followed");
  }
  CHECK(kernel("  " + call, "", "").model()->facts.veto ==
        "the kernel calls helper, whose effects are unknown");
  Kernel cluster(
      "output: float32 y[n, c]\ninput: float32 x[n, c]\nscalar: int32 n = 64\nscalar: int32 c = "
      "65536\ngrid: ceil_div(n, 256)\nblock: 256\n",
      "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, int n, "
      "int c) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float top = -1e30f;\n  for (int j = 0; j < c; ++j) top = fmaxf(top, x[i * c + j]);\n  for "
      "(int j = 0; j < c; ++j) y[i * c + j] = x[i * c + j] - top;\n}\n");
  REQUIRE(cluster.step("parallelise_row_loop(lanes=256,cluster=2)") == "");
  CHECK(cluster.step("unroll_ilp@loop:0(factor=4,tail=0)") == "");
}

TEST_CASE("what is found in a model is kept with that very object, as long as a scope keeps it") {
  const Kernel k(kVector, vector_kernel("  y[i] = x[i];\n"));
  int searches = 0;
  const auto found = [&](const model::KernelModel& model, std::string_view name) {
    const auto out =
        model::found_in<const model::Function*>(k.at(), model, name, [&](std::string& why) {
          ++searches;
          why = "as said";
          return model.kernel;
        });
    CHECK(out->second == "as said");
    return out->first;
  };
  const auto outside = k.model();
  CHECK(found(*outside, "kernel") == outside->kernel);
  CHECK(found(*outside, "kernel") == outside->kernel);
  CHECK(searches == 2);
  const model::ModelScope scope(k.at().spec);
  const auto inside = k.model();
  CHECK(found(*inside, "kernel") == inside->kernel);
  CHECK(found(*inside, "kernel") == inside->kernel);
  CHECK(searches == 3);
  CHECK(found(*inside, "another name") == inside->kernel);
  CHECK(searches == 4);
  // of the same text, but no model of the scope
  CHECK(found(*outside, "kernel") == outside->kernel);
  CHECK(searches == 5);
}

TEST_CASE("a step wider than any cluster is dealt to no group of lanes") {
  const auto sweeps = [](const std::string& step) {
    const Kernel k(
        kVector,
        "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, int n) "
        "{\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  float sum = 0.f;\n"
        "  for (int j = i % (" +
            step + "); j < n; j += " + step + ") sum += x[j];\n  for (int j = i % (" + step +
            "); j < n; j += " + step + ") y[j] = x[j] - sum;\n}\n");
    return find_row_sweeps(k.at(), *k.model()).size();
  };
  CHECK(sweeps("2048") == 1);
  CHECK(sweeps("65536") == 0);
}

TEST_CASE("asked by name alone a move that lists nothing gives a reason, not its usage") {
  const Kernel k(kVector, vector_kernel("  y[i] = x[i];\n"));
  for (const std::string& reason : k.reasons()) {
    CAPTURE(reason);
    CHECK(reason.find(" takes ") == std::string::npos);
    CHECK_FALSE(reason.ends_with(": "));
  }
}

TEST_CASE("a guard beyond what is launched bounds no index: more threads would do more") {
  const auto is_bounded = [](const std::string& grid) {
    const Kernel k("output: float32 y[n]\ninput: float32 x[n]\nscalar: int32 n = 4096\ngrid: " +
                       grid + "\nblock: 256\n",
                   vector_kernel("  if (i < n) y[i] = x[i];\n"));
    return index_of(*k.model())->bound.has_value();
  };
  CHECK(is_bounded("16"));
  CHECK(is_bounded("ceil_div(n, 256)"));
  CHECK_FALSE(is_bounded("2"));
}

TEST_CASE("what an iteration changes is not loaded ahead of it") {
  const auto unrolled = [](const std::string& body) {
    Kernel k(kVector,
             vector_kernel("  if (i >= n) return;\n  int at = i; float s = 0.f;\n  for (int "
                           "j = 0; j < n; j++) {\n" +
                           body + "  }\n  y[i] = s;\n"));
    return k.step("unroll_ilp@loop:0(factor=4,tail=0)") == "" ? k.source() : "";
  };
  CHECK(unrolled("    int was = at;\n    at = at * 3 % n;\n    s += x[j] * was;\n").find("was[") ==
        std::string::npos);
  CHECK(unrolled("    at = at * 3 % n;\n    s += x[(at + j) % n];\n") == "");
  CHECK(unrolled("    int p = j;\n    p += 1;\n    s += x[p];\n").find("x[p[u]]") ==
        std::string::npos);
  CHECK(unrolled("    s += x[j];\n").find("UNROLL") != std::string::npos);
}

TEST_SUITE_END();
