#include "runners/inputs/accumulation.h"

#include <doctest/doctest.h>

#include <string>

#include "engine/spec/spec_load.h"

using namespace warpath;

namespace {

/// A kernel with this body and an inout tensor h, its first argument.
KernelSpec kernel_of(const std::string& body, const std::string& before) {
  return parse_specs(R"({"name": "s", "kernel": {"source_code": ")" + before +
                         R"(extern \"C\" __global__ void k(int* h, const int* x, int n) { )" +
                         body +
                         R"( }", "metadata": {"kernel_name": "k"}, "io": {"args": [
                {"name": "sums", "type": "tensor", "role": "inout", "tensor_spec": {"shape": [8], "dtype": "int32", "init": {"kind": "zeros"}}},
                {"name": "x", "type": "tensor", "tensor_spec": {"shape": [40], "dtype": "int32", "init": {"kind": "randint", "low": 0, "high": 8}}},
                {"name": "n", "type": "int", "value": 40}], "launch": {"grid": {"x": 1}, "block": {"x": 64}}}}})",
                     "spec.json", ".")
      .front();
}

bool accumulates(const std::string& body, const std::string& before = "") {
  const KernelSpec spec = kernel_of(body, before);
  return only_accumulates(spec, spec.io.args.front());
}

bool stores(const std::string& body) {
  const KernelSpec spec = kernel_of(body, "");
  return only_stores(spec, spec.io.args.front());
}

}  // namespace

TEST_SUITE_BEGIN("accumulation");

TEST_CASE("sums, maxima and bits that are combined and never looked at accumulate") {
  CHECK(accumulates("atomicAdd(&h[x[0]], 1);"));
  CHECK(accumulates("const int i = threadIdx.x; if (i < n) atomicAdd(h + x[i], 1);"));
  CHECK(accumulates("for (int i = 0; i < n; ++i) { atomicMax(h, x[i]); }"));
  CHECK(accumulates("if (n > 3) h[2] += x[1]; else h[x[0]]++;"));
}

TEST_CASE("tickets, places to write to, and what is stored, compared or handed on do not") {
  CHECK_FALSE(accumulates("const int t = atomicAdd(&h[0], 1); if (t == 3) h[1] += 1;"));
  CHECK_FALSE(accumulates("if (atomicAdd(h, 1) == n) h[1] += 1;"));
  CHECK_FALSE(accumulates("h[0] = x[0];"));
  CHECK_FALSE(accumulates("if (h[0] == 0) h[1] += 1;"));
  CHECK_FALSE(accumulates("h[0] += h[1];"));
  CHECK_FALSE(accumulates("atomicAdd(&h[0], 1); while (*h < n) {}"));
  CHECK_FALSE(accumulates("int* p = h; atomicAdd(p, 1);"));
  CHECK_FALSE(accumulates("atomicExch(&h[0], 1);"));
  CHECK_FALSE(accumulates("n += 1;"));
  CHECK_FALSE(accumulates("for (; h[0]++ < n;) h[1] += 1;"));
  CHECK_FALSE(accumulates("for (; h[0]++;) h[1] += 1;"));
  CHECK_FALSE(accumulates("int a[] = {h[0]++}; h[1] += a[0];"));
  CHECK_FALSE(accumulates("int t = TICKET; h[1] += t;", R"(#define TICKET atomicAdd(&h[0], 1)\n)"));
}

TEST_CASE("what is stored to and nothing else is not read") {
  CHECK(stores("h[x[0]] = 1;"));
  CHECK(stores("const int i = threadIdx.x; if (i < n) h[i] = x[i]; else h[n] = 0;"));
  CHECK_FALSE(stores("h[0] = h[1];"));
  CHECK_FALSE(stores("if (h[0] == 0) h[1] = 1;"));
  CHECK_FALSE(stores("h[0] += 1;"));
  CHECK_FALSE(stores("int* p = h; p[0] = 1;"));
}

TEST_CASE("a workspace that the spec's kernel does nothing with keeps its contents") {
  const auto untouched = [](const std::string& body, const std::string& before = "") {
    const KernelSpec spec = kernel_of(body, before);
    return is_untouched(spec, spec.io.args.front());
  };
  CHECK(untouched("const int i = threadIdx.x; if (i < n) n = x[i];"));
  CHECK_FALSE(untouched("h[0] = x[0];"));
  CHECK_FALSE(untouched("other(h);"));
  CHECK_FALSE(untouched("FILL", R"(#define FILL h[0] = 1;\n)"));
}

TEST_SUITE_END();
