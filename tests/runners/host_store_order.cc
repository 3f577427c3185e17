#include <doctest/doctest.h>

#include <string>

#include "tests/runners/host_candidates.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("host_store_order");

namespace {

/// y[at[i]] is the greatest x[i]; `at` has many equal places on some inputs.
KernelSpec greatest_by_place() {
  KernelSpec spec = doubling(DType::i32);
  spec.io.args.insert(spec.io.args.begin(), tensor("at", ArgRole::input, DType::i32, "n"));
  spec.io.args[2] = tensor("y", ArgRole::inout, DType::i32, "1000");
  spec.workloads.front().scalars["n"] = std::int64_t{640};
  spec.source =
      "extern \"C\" __global__ void k(const int* at, const int* x, int* y, int n) { "
      "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicMax(y + at[i], x[i]); }";
  std::get<ReferenceKernel>(spec.reference).source =
      "__global__ void twice(const int* at, const int* x, int* y, int n) { "
      "for (int i = 0; i < n; ++i) if (x[i] > y[at[i]]) y[at[i]] = x[i]; }";
  return spec;
}

Outcome judged(const KernelSpec& spec, const std::string& text) {
  HostOptions options = quick();
  options.threads = 1;  // by which no update is lost
  Candidates candidates(spec, options);
  Variant variant = baseline_variant(spec);
  variant.source =
      "extern \"C\" __global__ void k(const int* at, const int* x, int* y, int n) { "
      "int i = blockIdx.x * blockDim.x + threadIdx.x; " +
      text + " }";
  return candidates.run(
      {.spec = spec, .variant = variant, .key = {}, .seed = 1, .stage = Stage::confirmation});
}

}  // namespace

TEST_CASE("two blocks that store different values to one place, in no order, are refused") {
  // Blocks that run one after another give the right result.
  const Outcome outcome =
      judged(greatest_by_place(),
             "for (int t = 0; t < 64; ++t) { if (t == threadIdx.x && x[i] > y[at[i]]) "
             "y[at[i]] = x[i]; __syncthreads(); }");
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::wrong_result);
  CHECK(failed_gate(outcome) == "store_order");
  CHECK(outcome.log.find("tensor y: different values are stored to byte ") != std::string::npos);
}

TEST_CASE("what a barrier, a fence or an atomic orders, and what says the same, is not") {
  for (const std::string text :
       {"if (i < n) atomicMax(y + at[i], x[i]);",
        // a try that is made again
        "if (i < n) { int old = y[at[i]]; while (x[i] > old) { "
        "int seen = atomicCAS(y + at[i], old, x[i]); if (seen == old) break; old = seen; } }",
        // one thread for all
        "if (i == 0) for (int k = 0; k < n; ++k) if (x[k] > y[at[k]]) y[at[k]] = x[k];",
        // one block for all, each thread in its turn
        "if (blockIdx.x == 0) for (int k = 0; k < n; ++k) { if (k % blockDim.x == threadIdx.x && "
        "x[k] > y[at[k]]) y[at[k]] = x[k]; __syncthreads(); }"}) {
    CAPTURE(text);
    const Outcome outcome = judged(greatest_by_place(), text);
    CAPTURE(outcome.log);
    CHECK(outcome.status == Status::ok);
  }
}

TEST_CASE("where the spec's own kernel leaves the order open, so may another one") {
  KernelSpec spec = greatest_by_place();
  const auto with = [&](const std::string& text) {
    return "extern \"C\" __global__ void k(const int* at, const int* x, int* y, int n) { "
           "int i = blockIdx.x * blockDim.x + threadIdx.x; " +
           text + " }";
  };
  // Both leave a mark and take it away again, by any thread.
  const std::string marks = "if (i < n) { y[at[i]] = i + 2; y[at[i]] = 1; }";
  spec.source = with(marks);
  std::get<ReferenceKernel>(spec.reference).source =
      "__global__ void twice(const int* at, const int* x, int* y, int n) { "
      "for (int i = 0; i < n; ++i) y[at[i]] = 1; }";
  const Outcome marked = judged(spec, "if (i < n) { y[at[i]] = i + 3; y[at[i]] = 1; }");
  CAPTURE(marked.log);
  CHECK(failed_gate(marked) != "store_order");
  CHECK(judged(spec, "if (i < n) y[at[i]] = 1;").status == Status::ok);
}

TEST_SUITE_END();
