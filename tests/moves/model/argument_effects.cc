#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "moves/model/facts.h"
#include "register_moves.h"
#include "tests/support/move_path.h"

using namespace warpath;
using namespace warpath::model;
using test::MovePath;

// Calls of functions that are not looked into, but that reach nothing but their arguments.
TEST_SUITE_BEGIN("argument_effects");

namespace {

struct Facts {
  std::unique_ptr<Unit> unit;
  KernelFacts facts;
};

/// Facts of a kernel that calls a helper; nothing aliases.
Facts facts_of(const std::string& helpers, const std::string& body) {
  auto unit = std::make_unique<Unit>(
      parse(helpers +
            "\n__global__ void k(float* __restrict__ y, const float* __restrict__ x, "
            "int* __restrict__ c, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
            body + "\n}\n"));
  KernelFacts facts = analyse(*unit, *unit->find_function("k"));
  return {std::move(unit), std::move(facts)};
}

/// What a call of `f` with a body of two statements vetoes.
std::string veto_of(const std::string& statement,
                    const std::string& before = "",
                    const std::string& parameters = "float* p, int i") {
  const Facts f = facts_of(before + "__device__ void f(" + parameters + ") { " + statement +
                               " if (i > 3) return; p[i] = 1.0f; }",
                           "  if (i < n) f(y, i);");
  return f.facts.veto;
}

std::vector<std::string> accesses(const Facts& f) {
  std::vector<std::string> out;
  for (const Access& a : f.facts.accesses)
    out.push_back(std::string(name(a.kind)) + " " +
                  f.facts.arrays[static_cast<std::size_t>(a.array)].name + "[" + a.index.text() +
                  "]");
  return out;
}

const std::string kUnknown = "the kernel calls f, whose effects are unknown";

}  // namespace

TEST_CASE("a call accesses what its arguments point to, anywhere") {
  const Facts f = facts_of(
      "__device__ float f(float* to, const float* from, int i) { if (i > 2) return 0.0f; "
      "to[i] = from[i]; return from[0]; }",
      "  if (i < n) c[i] = (int)f(y, x + 1, i);");
  CHECK(f.facts.veto.empty());
  CHECK(accesses(f) == std::vector<std::string>{"read_write y[?]", "read x[?]",
                                                "write c[blockDim.x * blockIdx.x + threadIdx.x]"});
}

TEST_CASE("what the members of an object point to is no argument") {
  const std::string view = "struct View { float* p; };\nstruct Pair { int a, b; };\n";
  for (const std::string parameter : {"View v, int i", "View& v, int i", "View* v, int i"})
    CHECK(veto_of("", view, parameter + ", float* p") == kUnknown);
  const Facts f = facts_of(view +
                               "template <class T> __device__ void f(T v, int i) { if (i > 3) "
                               "return; v.p[i] = 1.0f; }",
                           "  View v; v.p = y; if (i < n) f(v, i);");
  CHECK_FALSE(f.facts.veto.empty());
}

TEST_CASE("what a function reaches beside its arguments is a veto") {
  CHECK(veto_of("").empty());
  CHECK(veto_of("__syncthreads();") == kUnknown);
  CHECK(veto_of("i += __shfl_xor_sync(~0u, i, 1);") == kUnknown);
  CHECK(veto_of("i += threadIdx.x;") == kUnknown);
  CHECK(veto_of("__shared__ float s[4]; s[i] = 1;") == kUnknown);
  CHECK(veto_of("static int s; ++s;") == kUnknown);
  CHECK(veto_of("total += i;", "__device__ int total;\n") == kUnknown);
  CHECK(veto_of("i += kSize;", "constexpr int kSize = 4;\n").empty());
  CHECK(veto_of("elsewhere(p);") == kUnknown);
  CHECK(veto_of("elsewhere(p);", "__device__ void elsewhere(float* p);\n") == kUnknown);
  CHECK(veto_of("asm volatile(\"membar.gl;\" ::: \"memory\");") == kUnknown);
  CHECK(veto_of("i += WHERE;", "#define WHERE (blockIdx.x)\n") == kUnknown);
  CHECK(veto_of("", "", "volatile float* p, int i") == kUnknown);
  CHECK(veto_of("float* q = reinterpret_cast<float*>((unsigned long long)i); q[0] = 1;") ==
        kUnknown);
  CHECK(veto_of("again(p, i);",
                "__device__ void again(float* p, int i) { if (i > 0) return; "
                "p[i] = 2; }\n")
            .empty());
  CHECK(veto_of("again(p, i);",
                "__device__ void again(float* p, int i) { __syncthreads(); "
                "p[i] = 2; }\n") == kUnknown);
}

TEST_CASE("each function that the name may mean counts") {
  const std::string other = "__device__ void f(double* p, int i) { __threadfence(); p[i] = 2; }\n";
  CHECK(veto_of("", other) == kUnknown);
  CHECK(veto_of("", "__device__ void f(double* p, int i) { p[i] = 2; if (i) return; }\n").empty());
  // an operator is called without a name
  CHECK(veto_of("",
                "struct V { float x; };\n__device__ int seen;\n__device__ V operator+(V a, V "
                "b) { ++seen; return a; }\n") == kUnknown);
}

TEST_CASE("static members and operators of the file's class templates are looked into") {
  const auto of = [](const std::string& inner, const std::string& derived = "") {
    return "template <class T> struct Of" + derived + " { static __device__ T f(T a) { " + inner +
           " return a; } __device__ void operator()(T* p, T a) { *p = a; } };\n";
  };
  const std::string base = "struct Base { static int other; };\n";
  CHECK(veto_of("p[i] = Of<float>::f(2.0f);", of("if (a > 3) return 1;")).empty());
  CHECK(veto_of("Of<float>()(p + i, 2.0f);", of("")).empty());
  CHECK(veto_of("p[i] = Of<float>::f(2.0f);", of("__syncthreads();")) == kUnknown);
  CHECK(veto_of("p[i] = Of<float>::f(2.0f);", base + of("", " : Base")) == kUnknown);
  CHECK(veto_of("Of<float>()(p + i, 2.0f);", base + of("", " : Base")) == kUnknown);
  // a member of that name of another class says nothing
  CHECK(veto_of("p[i] = Elsewhere<float>::f(2.0f);", of("")) == kUnknown);
  CHECK(veto_of("Elsewhere<float>()(p + i, 2.0f);", of("")) == kUnknown);
  CHECK(veto_of("Of()(p + i, 2.0f);", of("") + "template <class Of> ") == kUnknown);
}

TEST_CASE("of some functions of libraries it is known what they do to their arguments") {
  const Facts f =
      facts_of("", "  float s, t;\n  if (i < n) { sincosf(x[i], &s, &t); y[i] = s * t; }");
  CHECK(f.facts.veto.empty());
  const Facts copied = facts_of("", "  if (i < n) memcpy(y + i, x + i, sizeof(float));");
  CHECK(copied.facts.veto.empty());
  CHECK(accesses(copied) == std::vector<std::string>{"read_write y[?]", "read x[?]"});
  const auto random = [](const std::string& call) {
    return facts_of("", "  curandState state;\n  if (i < n) { " + call + " y[i] = x[i]; }")
        .facts.veto;
  };
  CHECK(random("curand_init(7, i, 0, &state); c[i] = (int)curand(&state);").empty());
  // other numbers of arguments are other functions, and so are those of the file
  CHECK(random("curand_init(7, 0, &state);") ==
        "the kernel calls curand_init, whose effects are unknown");
  CHECK(facts_of("__device__ void memcpy(float* to, const float* from, int n);",
                 "  if (i < n) memcpy(y, x, n);")
            .facts.veto == "the kernel calls memcpy, whose effects are unknown");
  CHECK(veto_of("float s; sincosf(2.0f, &s, p + i);").empty());
}

TEST_CASE(
    "a view by parts of elements, or by elements of unknown size, is somewhere in its array") {
  const auto of = [](const std::string& body, const std::string& before = "") {
    return facts_of(before, body);
  };
  const Facts direct = of("  if (i < n) ((char*)y)[4 * i] = ((const char*)x)[i];");
  CHECK(direct.facts.veto.empty());
  CHECK(accesses(direct) == std::vector<std::string>{"read x[?]", "write y[?]"});
  const Facts stepped =
      of("  char* to = (char*)(y + i);\n  if (i < n) { to[0] = 1; to += 4; *(to + 1) = 2; "
         "((float*)to)[1] = 2.0f; }");
  CHECK(stepped.facts.veto.empty());
  CHECK(accesses(stepped) == std::vector<std::string>{"write y[?]", "write y[?]", "write y[?]"});
  const Facts unknown = of("  if (i < n) ((Pack*)y)[i] = *((const Pack*)(x) + i);",
                           "template <class T> struct Wide;\nusing Pack = Wide<float>;\n");
  CHECK(unknown.facts.veto.empty());
  CHECK(accesses(unknown) == std::vector<std::string>{"read x[?]", "write y[?]"});
  // its text is no element of the array
  for (const Access& access : unknown.facts.accesses) CHECK(access.in_helper);
  const Facts loop = of("  for (int j = i; j < n; j += 64) ((short*)y)[j] = 3;");
  CHECK(loop.facts.loops[0]->kind == LoopClass::serial);
}

TEST_CASE("a variable's own parts are reached by its address and a step") {
  const auto veto = [](const std::string& body) { return facts_of("", body).facts.veto; };
  CHECK(veto("  float2 v;\n  if (i < n) { *((float*)(&v) + 1) = x[i]; y[i] = v.y; }").empty());
  CHECK(
      veto("  unsigned long long at = 64;\n  if (i < n) { y[i] = x[i]; *(float*)(at + 4) = 1; }") !=
      "");
}

TEST_CASE("a pointer to constant elements is only read through, unless a cast drops that") {
  const auto of = [](const std::string& statement) {
    return accesses(facts_of("__device__ float f(const float* p, int i) { " + statement +
                                 " if (i > 0) return p[i]; return 0.0f; }",
                             "  if (i < n) y[i] = f(x, i);"))[0];
  };
  CHECK(of("") == "read x[?]");
  CHECK(of("float4 v = *(const float4*)p; if (v.x > 0) return 1.0f;") == "read x[?]");
  CHECK(of("((float*)p)[0] = 1.0f;") == "read_write x[?]");
  CHECK(of("const_cast<float*>(p)[0] = 1.0f;") == "read_write x[?]");
}

TEST_CASE("a variable that is given by reference or address has another value afterwards") {
  const std::string helper =
      "__device__ void f(int& a, int* b) { if (a > 2) return; ++a; *b += 2; }\n";
  const Facts f = facts_of(helper, "  int a = 1, b = 2;\n  if (i < n) { f(a, &b); y[a] = x[b]; }");
  CHECK(f.facts.veto.empty());
  for (const std::string& access : accesses(f)) {
    CAPTURE(access);
    CHECK(access.find("[1]") == std::string::npos);
    CHECK(access.find("[2]") == std::string::npos);
  }
  const Facts loop = facts_of(
      helper, "  int a = 0, b = 0;\n  for (int j = 0; j < n; ++j) { f(a, &b); y[j] = a + b; }");
  REQUIRE(loop.facts.loops.size() == 1);
  CHECK(loop.facts.loops[0]->kind == LoopClass::serial);
}

TEST_CASE("elements that a call writes keep a loop's iterations in order") {
  const auto kind = [](const std::string& parameter) {
    const Facts f = facts_of(
        "__device__ float f(" + parameter + " p, int i) { if (i > 4) return p[i]; return p[0]; }",
        "  for (int j = i; j < n; j += blockDim.x * gridDim.x) y[j] = f(c, j);");
    return f.facts.loops[0]->kind;
  };
  CHECK(kind("const int*") == LoopClass::parallel);
  CHECK(kind("int*") == LoopClass::serial);
}

TEST_CASE("a pointer in an object goes where it is not followed") {
  const std::string view = "struct View { float* p; int n; };\n";
  const auto veto = [&](const std::string& statement) {
    return facts_of(view, statement + "\n  if (i < n) { y[i] = x[i]; v.p[i + 1] = 1.0f; }")
        .facts.veto;
  };
  const std::string goes = "the address of y goes where it is not followed";
  CHECK(veto("  View v{y, n};") == goes);
  CHECK(veto("  View v = {y, n};") == goes);
  CHECK(veto("  View v = View{y, n};") == goes);
  CHECK(veto("  View v(y, n);") == goes);
  CHECK(veto("  View v; v.p = y;") == goes);
}

TEST_CASE("what every move makes of kernels with such calls computes the same") {
  const std::string helpers =
      "__device__ void pair(const float* p, int i, float& a, float& b) { if (i < 0) return; "
      "a = p[i]; b = p[i] + 1.0f; }\n"
      "__device__ void add(float* p, int i, float v) { if (v < 0.0f) return; p[i] += v; }\n"
      "__device__ float sum(const float* v, int n) { float s = 0; for (int k = 0; k < n; ++k) { "
      "if (v[k] > 9.0f) return s; s += v[k]; } return s; }\n";
  const std::vector<std::string> bodies{
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
      "{\n    float a = 0, b = 0;\n    pair(x, i, a, b);\n    y[i] = a * b;\n  }\n",
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    y[i] = x[i];\n"
      "    for (int k = 0; k < 8; ++k) add(y, i, x[k]);\n  }\n",
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    float v[8];\n"
      "    for (int k = 0; k < 8; ++k) v[k] = x[(i + k) % n];\n    add(v, i % 8, 3.0f);\n"
      "    float s = 0;\n    for (int k = 0; k < 8; ++k) s += v[(k + i) % 8] * k;\n"
      "    y[i] = s + sum(v, 8);\n  }\n",
      "  __shared__ float s[64];\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  s[threadIdx.x] = i < n ? x[i] : 0.0f;\n  __syncthreads();\n  float t = sum(s, 64);\n"
      "  __syncthreads();\n  add(s, threadIdx.x, t);\n  __syncthreads();\n"
      "  if (i < n) y[i] = s[63 - threadIdx.x];\n",
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n"
      "    for (int b = 0; b < 4; ++b) ((char*)y)[4 * i + b] = ((const char*)x)[4 * i + b];\n"
      "    float2 v = make_float2(x[i], y[i]);\n    *((float*)(&v) + 1) += 2.0f;\n"
      "    y[i] = v.x + v.y;\n  }\n",
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    float s = 0, t = 0;\n"
      "    for (int k = 0; k < 8; ++k) {\n      const float v = x[(i + k) % n];\n      t = modff(v "
      "* 3.0f, &s);\n"
      "      y[i] = t + s * k;\n    }\n  }\n"};
  std::size_t ran = 0;
  for (const std::string& body : bodies) {
    const MovePath start(test::kernel_under_test(
        helpers + "extern \"C\" __global__ void calls(float* y, const float* x, int n) {\n" + body +
            "}\n",
        "calls",
        {{"y", "output", "float32", "n"},
         {"x", "input", "float32", "n"},
         {"n", "scalar", "", "", 1003}},
        "(n + 63) / 64", "64"));
    for (const auto& [name, entry] : registered_moves().entries()) {
      const std::vector<std::string> listed = start.listed(name);
      if (listed.empty()) continue;
      CAPTURE(body);
      CAPTURE(listed.front());
      MovePath path = start;
      path.step(listed.front()).runs();
      ++ran;
    }
  }
  CHECK(ran > 20);
}
