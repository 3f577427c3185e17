#include <doctest/doctest.h>

#include <string>

#include "tests/runners/host_candidates.h"

using namespace warpath;
using namespace warpath::test;

TEST_SUITE_BEGIN("host_leftovers");

TEST_CASE("what shared memory has at first is nothing that a kernel may rely on") {
  Candidates candidates(doubling());
  const auto verdict = [&](const std::string& statements) {
    return std::string(name(candidates.run(body(statements), Stage::confirmation).status));
  };
  for (const std::string seen : {"flag == 0", "flag == 1", "flag == 2", "flag < 0"}) {
    CAPTURE(seen);
    CHECK(verdict("__shared__ int flag; if (i < n && x[i] > 1e37f) flag = 5; __syncthreads(); if "
                  "(i < n) y[i] = " +
                  seen + " ? 0 : 2 * x[i];") == "wrong_result");
  }
  // What a block of the launch before left.
  CHECK(verdict("__shared__ int tag; const bool again = tag == 77; __syncthreads(); tag = 77; if "
                "(i < n) y[i] = again ? 0 : 2 * x[i];") == "wrong_result");
  CHECK(verdict("__shared__ int tag; tag = 77; __syncthreads(); if (i < n) y[i] = tag == 77 ? 2 * "
                "x[i] : 0;") == "ok");
}

TEST_CASE("a shuffle from a lane that has returned gives no number that a maximum always hides") {
  KernelSpec spec = doubling();
  spec.workloads.front().scalars["n"] = std::int64_t{50};
  Candidates candidates(spec);
  const Outcome used = candidates.run(
      body("if (i >= n) return; const float v = 2 * x[i]; const float o = __shfl_xor_sync(~0u, v, "
           "31); y[i] = i < 32 ? v : fmaxf(v, i >= 34 ? v : o);"),
      Stage::confirmation);
  CAPTURE(used.log);
  CHECK(used.status == Status::wrong_result);
}

TEST_CASE("a counter that its kernel sets back may be read before the first barrier") {
  Candidates candidates(doubling());
  const Outcome outcome = candidates.run(
      "__device__ unsigned done; extern \"C\" __global__ void k(const float* x, float* y, int n) { "
      "__shared__ unsigned ticket; int i = blockIdx.x * blockDim.x + threadIdx.x; if (threadIdx.x "
      "== 0) ticket = atomicInc(&done, gridDim.x - 1); __syncthreads(); if (i < n) y[i] = 2 * "
      "x[i]; }");
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::ok);
}

TEST_SUITE_END();
