#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/spec/spec_load.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

using namespace warpath;
using namespace warpath::model;

TEST_SUITE_BEGIN("model_facts");

namespace {

const std::string kRoot = WARPATH_SOURCE_ROOT;

struct Facts {
  std::unique_ptr<Unit> unit;
  KernelFacts facts;
};

/// Facts of `__global__ void k(parameters) { body }`, with helpers before it; parameters are
/// restricted, so nothing aliases.
Facts facts_of(const std::string& body, const std::string& helpers = "") {
  auto unit =
      std::make_unique<Unit>(parse(helpers +
                                   "\n__global__ void k(float* __restrict__ y, const float* "
                                   "__restrict__ x, const int* __restrict__ c, int N, int C) {\n" +
                                   body + "\n}\n"));
  KernelFacts facts = analyse(*unit, *unit->find_function("k"));
  return {std::move(unit), std::move(facts)};
}

/// "variable first..end step class" of each loop.
std::vector<std::string> loops(const Facts& f) {
  std::vector<std::string> out;
  for (const auto& loop : f.facts.loops) {
    std::string text = loop->counted ? loop->variable + " " + loop->first.text() + ".." +
                                           loop->end.text() + " " + loop->step.text() + " "
                                     : "? ";
    text += name(loop->kind);
    for (const Reduction& r : loop->reductions)
      text += " " + std::string(name(r.op)) + r.accumulator;
    out.push_back(text);
  }
  return out;
}

std::string loop_class(const std::string& body, const std::string& helpers = "") {
  const Facts f = facts_of(body, helpers);
  REQUIRE(!f.facts.loops.empty());
  CAPTURE(f.facts.loops[0]->reason);
  return loops(f)[0];
}

/// "kind array[index]" of each access.
std::vector<std::string> accesses(const Facts& f) {
  std::vector<std::string> out;
  for (const Access& a : f.facts.accesses) {
    out.push_back(std::string(name(a.kind)) + " " +
                  f.facts.arrays[static_cast<std::size_t>(a.array)].name + "[" + a.index.text() +
                  "]");
  }
  return out;
}

const std::string kRow = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
const std::string kRowText = "C * blockDim.x * blockIdx.x + C * threadIdx.x";

}  // namespace

TEST_CASE("a variable that nothing ever sets leaves its name to the index of a loop") {
  CHECK(loop_class("int j; for (int j = 0; j < N; ++j) y[j] = x[j];") == "j 0..N 1 parallel");
  CHECK(loop_class("int j = y[0]; for (int j = 0; j < N; ++j) y[j] = x[j];").starts_with("?"));
}

TEST_CASE("counting loops are known in all their spellings") {
  CHECK(loop_class("for (int j = 0; j < C; j++) y[j] = 1;") == "j 0..C 1 parallel");
  CHECK(loop_class("for (int j = 0; j <= C - 1; ++j) y[j] = 1;") == "j 0..C 1 parallel");
  CHECK(loop_class("for (int j = 0; j < C; j += 1) y[j] = 1;") == "j 0..C 1 parallel");
  CHECK(loop_class("for (int j = 0; C > j; j = j + 1) y[j] = 1;") == "j 0..C 1 parallel");
  CHECK(loop_class("for (int j = 0; j != C; ++j) y[j] = 1;") == "j 0..C 1 parallel");
  CHECK(loop_class("for (int j = C - 1; j >= 0; --j) y[j] = 1;") == "j C - 1..-1 -1 parallel");
  CHECK(loop_class("for (int j = C; j > 0; j--) y[j - 1] = 1;") == "j C..0 -1 parallel");
  CHECK(loop_class("int j = 0; while (j < C) { y[j] = 1; j++; }") == "j 0..C 1 parallel");
  CHECK(loop_class("int j; for (j = 0; j < C; ++j) y[j] = 1;") == "j 0..C 1 parallel");
  CHECK(loop_class("int j = 2; for (; j < C; ++j) y[j] = 1;") == "j 2..C 1 parallel");
  CHECK(loop_class("for (int j = 0; j < C; j += 4) y[j] = 1;") == "j 0..C 4 parallel");
  CHECK(loop_class("for (unsigned j = threadIdx.x; j < C; j += blockDim.x) y[j] = 1;") ==
        "j threadIdx.x..C blockDim.x parallel");
  CHECK(loop_class("for (int j = 0; j < C; ++j) { if (x[j] > 0) continue; y[j] = 1; }") ==
        "j 0..C 1 parallel");
  CHECK(loop_class("for (int s = N; s > 0; s >>= 1) y[s] = 1;").starts_with("? serial"));
  CHECK(loop_class("for (int j = 0; j < C; ++j) { y[j] = 1; if (y[j] > 2) break; }") ==
        "j 0..C 1 serial");
  CHECK(loop_class("for (int j = 0; j < C; ++j) { C = C - 1; y[j] = 1; }").starts_with("? serial"));
}

TEST_CASE("the values that a switch tells apart are no calls, and a trap is no effect") {
  const Facts f = facts_of(
      kRow +
          "if (i < N) { float v = x[i]; switch (C) { case RELU: v = 0; break; case Mode::Half: "
          "v /= 2; break; case kOther: __trap(); default: break; } y[i] = v; }",
      "enum Act { RELU = 2 };\nenum class Mode { Half = 7 };\nconstexpr int kOther = 9;\n");
  CHECK(f.facts.veto.empty());
  CHECK(facts_of(kRow + "RELU; y[i] = 1;").facts.veto ==
        "the kernel calls RELU, whose effects are unknown");
}

TEST_CASE("reductions are known in all their spellings") {
  const auto reduces = [](const std::string& update, const std::string& as) {
    CAPTURE(update);
    CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) { float e = x[j]; " + update +
                     " } y[0] = s;") == "j 0..C 1 reduction " + as);
  };
  reduces("s += e;", "+s");
  reduces("s -= e;", "+s");
  reduces("s = s + e;", "+s");
  reduces("s = e + s;", "+s");
  reduces("s = s + e + 1;", "+s");
  reduces("s *= e;", "*s");
  reduces("s = fmaf(e, e, s);", "+s");
  reduces("s = fma(e, 2.0f, s);", "+s");
  reduces("s = fmaxf(s, e);", "maxs");
  reduces("s = fminf(e, s);", "mins");
  reduces("s = max(s, e);", "maxs");
  reduces("if (e > s) s = e;", "maxs");
  reduces("if (s > e) { s = e; }", "mins");
  reduces("s = e > s ? e : s;", "maxs");
  reduces("s = s < e ? e : s;", "maxs");
  reduces("s = s < e ? s : e;", "mins");
  reduces("if (e > 0) s += e;", "+s");
  CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) s = s * 0.5f + x[j]; y[0] = s;") ==
        "j 0..C 1 serial");
  CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) s = x[j] - s; y[0] = s;") ==
        "j 0..C 1 serial");
  CHECK(loop_class("float s = 0; int at = 0; for (int j = 0; j < C; ++j) if (x[j] > s) { s = x[j]; "
                   "at = j; } y[0] = at;") == "j 0..C 1 serial");
  CHECK(loop_class("for (int j = 0; j < C; ++j) y[N] += x[j];") == "j 0..C 1 reduction +y[N]");
  CHECK(loop_class("for (int j = 0; j < C; ++j) y[N] = y[N] + x[j];") ==
        "j 0..C 1 reduction +y[N]");
}

TEST_CASE("a running value that is stored is a scan") {
  CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) { s += x[j]; y[j] = s; }") ==
        "j 0..C 1 scan +s");
  CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) { y[j] = s; s += x[j]; }") ==
        "j 0..C 1 scan +s");
  CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) { float t = y[j]; y[j] = s; s += t; "
                   "}") == "j 0..C 1 scan +s");
}

TEST_CASE("a value that feeds its own update is no scan") {
  CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) { float t = s * 2; s += x[j] * t; "
                   "y[j] = s; }") == "j 0..C 1 serial");
  CHECK(
      loop_class("float s = 0; for (int j = 0; j < C; ++j) { if (s < 9) s += x[j]; y[j] = s; }") ==
      "j 0..C 1 serial");
  CHECK(loop_class("float s = 0; for (int j = 0; j < C; ++j) { y[j] = s; s += y[j] + 1; }") ==
        "j 0..C 1 serial");
}

TEST_CASE("dependences through memory are seen") {
  CHECK(loop_class("for (int j = 1; j < C; ++j) y[j] = y[j - 1] + x[j];") == "j 1..C 1 serial");
  CHECK(loop_class("for (int j = 0; j < C; ++j) y[c[j]] = x[j];") == "j 0..C 1 serial");
  CHECK(loop_class("for (int j = 0; j < C; ++j) y[2 * j] = y[2 * j + 1];") == "j 0..C 1 parallel");
  CHECK(
      loop_class("for (int r = 0; r < N; ++r) for (int j = 0; j < C; ++j) y[r * C + j] = x[j];") ==
      "r 0..N 1 parallel");
  CHECK(
      loop_class("for (int r = 0; r < N; ++r) for (int j = 0; j <= C; ++j) y[r * C + j] = x[j];") ==
      "r 0..N 1 serial");
  CHECK(loop_class("for (int r = 0; r < N; r += 4) for (int j = 0; j < 4; ++j) y[r + j] = x[j];") ==
        "r 0..N 4 parallel");
  CHECK(loop_class(
            "float t[4]; for (int r = 0; r < N; ++r) { float u[4]; u[0] = x[r]; y[r] = u[0]; }") ==
        "r 0..N 1 parallel");
  CHECK(loop_class("for (int j = 0; j < C; ++j) atomicAdd(&y[c[j]], x[j]);") ==
        "j 0..C 1 parallel");
  CHECK(loop_class("float t; for (int j = 0; j < C; ++j) { t = x[j]; y[j] = t; }") ==
        "j 0..C 1 parallel");
  CHECK(loop_class("float t = 0; for (int j = 0; j < C; ++j) { y[j] = t; t = x[j]; }") ==
        "j 0..C 1 serial");
  CHECK(loop_class("float t; for (int j = 0; j < C; ++j) { t = x[j]; y[j] = t; } y[0] = t;") ==
        "j 0..C 1 serial");
}

TEST_CASE("locals, aliases and bumps are folded into indices") {
  const Facts alias =
      facts_of(kRow + "const float* row = x + i * C; y[i] = row[3] + *(row + 4) + (&row[1])[1];");
  CHECK(accesses(alias) ==
        std::vector<std::string>{"read x[" + kRowText + " + 3]", "read x[" + kRowText + " + 4]",
                                 "read x[" + kRowText + " + 2]",
                                 "write y[blockDim.x * blockIdx.x + threadIdx.x]"});
  CHECK(alias.facts.accesses[0].source_index.text() == "C * i + 3");

  const Facts bump = facts_of(
      "const float* p = x + N; for (int k = 0; k < C; k += 8) { y[k] = p[threadIdx.x]; p += 8 * N; "
      "}");
  CHECK(accesses(bump)[0] == "read x[N * k + N + threadIdx.x]");
  CHECK(bump.facts.loops[0]->inductions == std::vector<std::string>{"p"});
  CHECK(loops(bump)[0] == "k 0..C 8 parallel");

  const Facts before =
      facts_of("x += N; y += N * C; for (int k = 0; k < C; ++k) { y[0] += *x++; }");
  CHECK(accesses(before)[0] == "read x[N + k]");

  const Facts branch = facts_of("int j = 0; if (N > 4) j = 1; y[j] = x[j + 1];");
  CHECK(branch.facts.accesses[0].index - branch.facts.accesses[1].index == Polynomial(1));
  CHECK(branch.facts.accesses[1].index.text() == "j");

  const Facts narrow = facts_of(
      "unsigned char u = N; y[u] = x[(char)C]; for (int q = 0; q < C; ++q) y[(int)(x[q] * 2)] = "
      "0;");
  CHECK(narrow.facts.accesses[0].index.mentions("C"));
  CHECK_FALSE(narrow.facts.accesses[0].index == Polynomial::name("C"));
  CHECK_FALSE(narrow.facts.accesses[1].index == Polynomial::name("N"));

  const Facts hidden =
      facts_of("int base = N * 2; for (int N = 0; N < 4; ++N) y[base + N] = x[N];");
  CHECK_FALSE(hidden.facts.loops[0]->counted);

  const Facts casts = facts_of(
      "size_t j = (size_t)blockIdx.x * 4; float4 v = reinterpret_cast<const float4*>(x)[j + 1]; "
      "y[j] = v.x;");
  CHECK(accesses(casts)[0] == "read x[16 * blockIdx.x + 4]");
  CHECK(casts.facts.accesses[0].vector_width == 4);

  const Facts shared = facts_of(
      "__shared__ float t[16][17]; t[threadIdx.y][threadIdx.x] = x[0]; __syncthreads(); y[0] = "
      "t[threadIdx.x][threadIdx.y];");
  CHECK(accesses(shared)[1] == "write t[threadIdx.x + 17 * threadIdx.y]");
  CHECK(shared.facts.accesses[1].subscripts.size() == 2);
  CHECK(shared.facts.has_barrier);
  CHECK(shared.facts.veto.empty());
}

TEST_CASE(
    "a load is the same value each time only where nothing in the kernel writes, further on "
    "either") {
  const auto loads = [](const std::string& parameters, const std::string& body) {
    const Unit unit = parse("__global__ void k(" + parameters + ") {\n" + body + "\n}\n");
    const KernelFacts facts = analyse(unit, *unit.find_function("k"));
    const bool counted = std::ranges::all_of(facts.loops, [](const auto& l) { return l->counted; });
    return std::pair(facts.accesses[1].index.operations().size(), counted);
  };
  const auto stable = std::pair(std::size_t{1}, true), changing = std::pair(std::size_t{0}, true);
  const std::string apart = "float* __restrict__ y, int* __restrict__ m, int* __restrict__ n";
  CHECK(loads(apart, "y[m[0]] = 1; n[0] = 2;") == stable);
  CHECK(loads(apart, "y[m[0]] = 1; m[0] = 2;") == changing);
  CHECK(loads(apart, "y[__ldg(m)] = 1; m[0] = 2;") == changing);
  CHECK(loads("float* y, int* m, int* n", "y[m[0]] = 1; n[0] = 2;") == changing);
  CHECK(loads(apart, "for (int i = 0; i < n[0]; ++i) y[i] = m[i];").second);
  CHECK_FALSE(loads(apart, "for (int i = 0; i < n[0]; ++i) n[i] = m[i];").second);
}

TEST_CASE("a branch that limits a value is min or max") {
  const auto read = [](const std::string& limit) {
    return accesses(facts_of("int i = threadIdx.x;\n" + limit + "\ny[i] = 1;"))[0];
  };
  const std::string upper = read("i = min(i, N - 1);"), lower = read("i = max(i, 0);");
  CHECK(upper.find("min") != std::string::npos);
  for (const std::string same : {"if (i >= N) i = N - 1;", "if (i > N - 1) { i = N - 1; }",
                                 "i = i < N ? i : N - 1;", "i = i >= N ? N - 1 : i;"})
    CHECK(read(same) == upper);
  for (const std::string same : {"if (i < 0) i = 0;", "i = i < 0 ? 0 : i;", "i = i >= 0 ? i : 0;"})
    CHECK(read(same) == lower);
  for (const std::string other :
       {"if (i >= N) i = N - 2;", "unsigned u = i - 1; if (u >= N) u = N - 1; i = u;",
        "if (C > 0) i = N - 1;", "if (i >= N && C > 0) i = N - 1;"}) {
    CAPTURE(other);
    CHECK(read(other) != upper);
    CHECK(read(other).find("max") == std::string::npos);
    CHECK(read(other).find("min") == std::string::npos);
  }
}

TEST_CASE("helper functions that are one return are looked through") {
  const Facts f = facts_of("y[at(1, 2, C)] = get(x, N);",
                           "__device__ int at(int r, int c, int ld) { return r * ld + c; "
                           "}\n__device__ float get(const float* p, int i) { return p[i + 1]; }");
  CHECK(accesses(f) == std::vector<std::string>{"read x[N + 1]", "write y[C + 2]"});
  CHECK(f.facts.accesses[0].in_helper);
  CHECK(f.facts.veto.empty());
}

TEST_CASE(
    "macros that are expressions are looked through, with the names of the place where they "
    "stand") {
  const std::string macros =
      "#define AT(r, c) ((r) * ld + (c))\n#define X(r, c) x[AT(r, c)]\n#define LANE() (threadIdx.x "
      "& 31)\n#define SET(v, e) v = (e)\n";
  const Facts f = facts_of(
      "int ld = C + 1; for (int j = 0; j < N; ++j) { y[AT(j, 2)] = X(1, j); } ld = 3; y[AT(1, 2)] "
      "= 0;",
      macros);
  CHECK(accesses(f) ==
        std::vector<std::string>{"read x[C + j + 1]", "write y[C * j + j + 2]", "write y[5]"});
  CHECK(loops(f)[0] == "j 0..N 1 parallel");
  CHECK(f.facts.veto.empty());
  const Facts lane = facts_of("int l = LANE(); if (l == 0) y[0] = 1;", macros);
  CHECK_FALSE(lane.facts.uniformly_reached(*lane.facts.accesses[0].stmt));
  CHECK(facts_of("int s = 0; SET(s, 2); y[s] = 1;", macros).facts.veto ==
        "the kernel calls SET, whose effects are unknown");
}

TEST_CASE("guards that dominate are known") {
  const Facts f = facts_of(
      kRow +
      "if (i >= N) return;\nif (C > 2 && i < C) { y[i] = 1; } else { y[i] = i < 3 ? x[i] : 0; }");
  REQUIRE(f.facts.thread_indices.size() == 1);
  CHECK(f.facts.thread_indices[0].form == ThreadIndex::Form::global);
  CHECK(f.facts.thread_indices[0].bound->text() == "N");
  const Access& first = f.facts.accesses[0];
  REQUIRE(first.guards.size() == 2);
  CHECK(first.guards[0]->early_exit);
  CHECK(first.guards[0]->complete);
  CHECK(first.guards[1]->nonnegative.size() == 2);
  CHECK(f.facts.accesses[1].guards.size() == 3);
  CHECK_FALSE(f.facts.accesses[1].guards[1]->complete);
  CHECK(f.facts.provably_nonnegative(Polynomial::name("N") - f.facts.thread_indices[0].value - 1,
                                     first.guards, first.loops));
  CHECK_FALSE(f.facts.provably_nonnegative(
      Polynomial::name("N") - f.facts.thread_indices[0].value - 2, first.guards, first.loops));
}

TEST_CASE("values agree over the grid, the block or not at all") {
  const Facts f =
      facts_of(kRow +
               "int b = blockIdx.x * 2; int n = N + 1; float v = x[b]; float w = x[i]; int t = 0; "
               "if (threadIdx.x < 3) t = 1;\n if (b < 4) y[b] = v; if (w > 0) { y[n] = t; }");
  const auto level = [&](const std::string& variable) {
    return std::string(name(f.facts.uniformity(Polynomial::name(variable))));
  };
  CHECK(level("b") == "block");
  CHECK(level("n") == "grid");
  CHECK(level("v") == "block");
  CHECK(level("w") == "thread");
  CHECK(level("t") == "thread");
  CHECK(f.facts.uniformly_reached(*f.facts.accesses[2].stmt));
  CHECK_FALSE(f.facts.uniformly_reached(*f.facts.accesses[3].stmt));
  const Facts helper =
      facts_of("if (lane() == 0) y[0] = 1;", "__device__ int lane() { return threadIdx.x & 31; }");
  CHECK_FALSE(helper.facts.uniformly_reached(*helper.facts.accesses[0].stmt));
  const Facts exits = facts_of(kRow + "if (i >= N) return; y[i] = 1;");
  CHECK_FALSE(exits.facts.uniformly_reached(*exits.facts.accesses[0].stmt));
}

TEST_CASE(
    "a macro that takes the address of its argument is followed to memory, not to variables") {
  const auto veto = [&](const std::string& body) {
    return facts_of("int t = threadIdx.x; " + body,
                    "#define WIDE(v) (reinterpret_cast<float4*>(&(v))[0])\n")
        .facts.veto;
  };
  CHECK(veto("__shared__ float s[2][128]; WIDE(s[1][4 * t]) = WIDE(x[4 * t]); "
             "WIDE(y[4 * t]) = WIDE(s[1][4 * t]);") == "");
  CHECK(veto("float r[4]; WIDE(r[0]) = WIDE(x[4 * t]); WIDE(y[4 * t]) = WIDE(r[0]);") == "");
  CHECK(veto("float4 r = WIDE(x[4 * t]); WIDE(y[4 * t]) = WIDE(r);") == "");
  CHECK(veto("WIDE(*(x + t)) = WIDE(y[4 * t]);") == "");
  const Facts both = facts_of("int t = threadIdx.x; WIDE(y[4 * t]) = WIDE(x[4 * t]);",
                              "#define WIDE(v) (reinterpret_cast<float4*>(&(v))[0])\n");
  CHECK(accesses(both) ==
        std::vector<std::string>{"read x[4 * threadIdx.x]", "write y[4 * threadIdx.x]"});
  for (const Access& access : both.facts.accesses) CHECK(access.vector_width == 4);
  CHECK(veto("float4 r; WIDE(r) = WIDE(x[4 * t]); WIDE(y[4 * t]) = r;") ==
        "the kernel calls reinterpret_cast<float4*>(&(v))[0], whose effects are unknown");
  CHECK(veto("WIDE(unknown(x)[t]) = WIDE(y[4 * t]);") != "");
}

TEST_CASE("what cannot be followed is a veto with its reason") {
  CHECK(facts_of("y[0] = mystery(x);").facts.veto ==
        "the kernel calls mystery, whose effects are unknown");
  for (const char* const code : {"trap;", "st.global.f32 [a], b;", "mov.u32 a, %%clock;",
                                 "bra there;", "{ .reg .f32 a; ld.f32 a, [b]; }"}) {
    CAPTURE(code);
    CHECK(facts_of("asm volatile(\"" + std::string(code) + "\");").facts.veto ==
          "the kernel holds inline assembly");
  }
  const auto value =
      facts_of("float v = x[0]; asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(v) : \"f\"(v)); y[0] = v;");
  CHECK(value.facts.veto.empty());
  CHECK_FALSE(value.facts.has_assembly);
  const auto joined = facts_of("asm volatile(\"bar.sync 1, 64;\" ::: \"memory\"); y[0] = x[0];");
  CHECK(joined.facts.veto.empty());
  CHECK_FALSE(joined.facts.threads_veto().empty());
  CHECK(facts_of("@").facts.veto == "line 3 of the kernel is not understood");
  CHECK(facts_of("y[0] = x[0];").facts.veto.empty());
}

TEST_CASE("types of expressions") {
  const Facts f = facts_of(
      "unsigned char u = 1; y[0] = x[0] * 2; y[1] = u + 1; y[2] = threadIdx.x; y[3] = fmaxf(1.0f, "
      "2.0f); y[4] = N * 2.0; y[5] = N < 3;");
  std::vector<std::string> types;
  for (const Stmt* s : f.facts.kernel->body->children) {
    if (s->kind == StmtKind::expression) types.push_back(type_of(f.facts, s->expr->arg(1)));
  }
  CHECK(types ==
        std::vector<std::string>{"float", "int", "unsigned int", "float", "double", "bool"});
}

namespace {

/// A spec's kernel and what its facts refer to.
struct Case {
  KernelSpec spec;
  Variant variant;
  std::shared_ptr<const KernelModel> model;
};

}  // namespace

TEST_CASE("the specs' kernels: classes, launch and work") {
  const auto model = [](const std::string& name) {
    auto out = std::make_unique<Case>();
    out->spec = load_specs(kRoot + "/specs/" + name + ".json").at(0);
    out->variant = baseline_variant(out->spec);
    std::string why;
    out->model = model_kernel(out->spec, out->variant, why);
    CHECK(why.empty());
    REQUIRE(out->model != nullptr);
    CHECK(out->model->facts.veto.empty());
    return out;
  };
  {
    const auto at = model("softmax_scaled");
    const KernelModel* const m = at->model.get();
    REQUIRE(m->facts.loops.size() == 3);
    CHECK(m->facts.loops[0]->kind == LoopClass::reduction);
    CHECK(m->facts.loops[1]->kind == LoopClass::reduction);
    CHECK(m->facts.loops[2]->kind == LoopClass::parallel);
    CHECK_FALSE(m->facts.may_alias(m->facts.array_index("o"), m->facts.array_index("x")));
    CHECK(m->facts.array("x")->alignment_bytes == 16);
  }
  {
    const auto at = model("rowscan");
    const KernelModel* const m = at->model.get();
    CHECK(m->facts.loops[0]->kind == LoopClass::scan);
    CHECK(m->facts.thread_indices[0].form == ThreadIndex::Form::global);
    const WorkEstimate work = m->facts.estimate(at->spec.workloads[0]);
    CHECK(work.footprint_bytes == doctest::Approx(8.0 * 16384 * 4096));
    CHECK(work.flops == doctest::Approx(16384.0 * 4096));
    CHECK(work.exact_trips);
  }
  {
    const auto at = model("spmv_csr");
    const KernelModel* const m = at->model.get();
    CHECK(m->facts.loops[0]->kind == LoopClass::reduction);
    CHECK(m->facts.loops[0]->reductions[0].accumulator == "y[row]");
  }
  {
    const auto at = model("hist256");
    const KernelModel* const m = at->model.get();
    CHECK(m->facts.arrays[static_cast<std::size_t>(m->facts.array_index("h"))].atomic);
    CHECK(m->facts.accesses.back().atomic_op == "atomicAdd");
  }
}

TEST_SUITE_END();
